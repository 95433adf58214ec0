//! Why a candidate list is refused. The held one stays, and ages on (protocol R6).

use pact_mandate::{Format, IssuerId, UnixTime, key::Thumbprint, signed::SignedError};

use crate::{
    compat::{biscuit::BiscuitListError, tenuo::TenuoListError},
    floor::FloorError,
    groups::BodyError,
    limits::MAX_ENTRIES,
    list::ListVersion,
    name::BodyName,
};

/// Why a candidate list is refused. A refused list changes nothing: the held one answers until it is too old.
#[derive(Debug, thiserror::Error)]
pub enum ListRefusal {
    /// No signed head of this kind, by a key that is pinned as this issuer's.
    #[error("the head of the list: {0}")]
    Head(#[from] SignedError),
    /// No Tenuo list of this issuer.
    #[error("the Tenuo list: {0}")]
    Tenuo(#[from] TenuoListError),
    /// No Biscuit list of this issuer.
    #[error("the Biscuit list: {0}")]
    Biscuit(#[from] BiscuitListError),
    /// A list of another kind than this keeper keeps.
    #[error("a {found} list was given to the keeper of the {wanted} list")]
    OtherKind {
        /// What is kept here.
        wanted: Format,
        /// What was given.
        found: Format,
    },
    /// The list of another issuer, signed by a key of this one.
    #[error("the list is {found}'s, expected {wanted}'s")]
    OtherIssuer {
        /// Whose list is kept here.
        wanted: IssuerId,
        /// Whose list came.
        found: IssuerId,
    },
    /// Signed later than our clock is.
    #[error("the list was signed at {issued_at}, after our clock ({now}); check both clocks")]
    FromTheFuture {
        /// When it was signed.
        issued_at: UnixTime,
        /// Our clock.
        now: UnixTime,
    },
    /// Below the floor: an old list was served again.
    #[error(
        "list {found} is below {floor}, which was seen already under key {key}; somebody serves an old list"
    )]
    LowerVersion {
        /// The version that was seen.
        floor: ListVersion,
        /// The version that came.
        found: ListVersion,
        /// The key that signed both.
        key: Thumbprint,
    },
    /// Two different lists under one number: the issuer, or who holds its key, tells different stories.
    #[error(
        "list {version} was seen with the entries {seen} and now comes with {found}: the list key may be stolen"
    )]
    Equivocation {
        /// The number.
        version: ListVersion,
        /// Name of the body that was seen.
        seen: BodyName,
        /// Name of the body that came.
        found: BodyName,
    },
    /// Signed before the list that is held.
    #[error("the list was signed at {found}, before the held one ({held})")]
    Older {
        /// When the held list was signed.
        held: UnixTime,
        /// When the candidate was signed.
        found: UnixTime,
    },
    /// An entry left too early.
    #[error(
        "{count} listed entries are gone or would leave sooner, one of them listed until {expires_at} and ten minutes; listing is final"
    )]
    EntryGone {
        /// How many.
        count: usize,
        /// Expiry of one of them.
        expires_at: UnixTime,
    },
    /// It does not follow the list that is held.
    #[error(
        "list {version} says that it follows the entries {found:?}, but those of the list before are {held}"
    )]
    PreviousMismatch {
        /// The candidate's number.
        version: ListVersion,
        /// What it says of the list before.
        found: Option<BodyName>,
        /// What that list held.
        held: BodyName,
    },
    /// The delta starts from a list that is not held.
    #[error("the delta starts from list {found} with the entries {found_base}, held are the entries {held}")]
    OtherBase {
        /// The number that it starts from.
        found: ListVersion,
        /// The body that it starts from.
        found_base: BodyName,
        /// The body that is held.
        held: BodyName,
    },
    /// The bytes are not those that the head names.
    #[error("the content hashes to {found}, the head names {wanted}")]
    NotItsName {
        /// The name that the head gives.
        wanted: BodyName,
        /// What the bytes hash to.
        found: BodyName,
    },
    /// The bytes hash right but are no body or delta: the publisher is at fault.
    #[error("the content of the list: {0}")]
    Body(#[from] BodyError),
    /// The head announces another size or count than its body has.
    #[error("the head announces {announced} entries, the body holds {found}")]
    OtherSize {
        /// What the head says.
        announced: u64,
        /// What the body has.
        found: u64,
    },
    /// The head names no delta from the held list, or the content that was given is not the one that was planned.
    #[error("the content that was given is not what the head names")]
    ContentMissing,
    /// More entries of earlier lists would have to be kept beside it than one list may hold. The issuer changes its list key
    /// far too often, and each time lists other things.
    #[error(
        "{count} entries of lists under earlier keys would be kept, at most {MAX_ENTRIES} can be; sign with one list key"
    )]
    TooManyKept {
        /// How many.
        count: u64,
    },
    /// The floor could not be written, so the list must not be used.
    #[error("the floor: {0}")]
    Floor(FloorError),
}

impl From<FloorError> for ListRefusal {
    fn from(error: FloorError) -> ListRefusal {
        match error {
            FloorError::Equivocation { version, seen, found } => {
                ListRefusal::Equivocation { version, seen, found }
            }
            FloorError::TooManyKept { count } => ListRefusal::TooManyKept { count },
            other => ListRefusal::Floor(other),
        }
    }
}

impl ListRefusal {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ListRefusal::Head(_) => "list_head_refused",
            ListRefusal::Tenuo(_) => "list_tenuo_refused",
            ListRefusal::Biscuit(_) => "list_biscuit_refused",
            ListRefusal::OtherKind { .. } => "list_other_kind",
            ListRefusal::OtherIssuer { .. } => "list_other_issuer",
            ListRefusal::FromTheFuture { .. } => "list_from_the_future",
            ListRefusal::LowerVersion { .. } => "list_lower_version",
            ListRefusal::Equivocation { .. } => "list_equivocation",
            ListRefusal::Older { .. } => "list_older",
            ListRefusal::EntryGone { .. } => "list_entry_gone",
            ListRefusal::PreviousMismatch { .. } => "list_previous_mismatch",
            ListRefusal::OtherBase { .. } => "list_delta_base",
            ListRefusal::NotItsName { .. } => "list_not_its_name",
            ListRefusal::Body(_) => "list_body_malformed",
            ListRefusal::OtherSize { .. } => "list_body_size",
            ListRefusal::ContentMissing => "list_content_missing",
            ListRefusal::TooManyKept { .. } => "list_too_many_kept",
            ListRefusal::Floor(_) => "list_floor",
        }
    }

    /// Whether this can only happen when the list key is abused or the publisher broke its own rules: somebody should be
    /// woken up (protocol R6).
    pub fn is_alarm(&self) -> bool {
        matches!(
            self,
            ListRefusal::Equivocation { .. }
                | ListRefusal::EntryGone { .. }
                | ListRefusal::PreviousMismatch { .. }
                | ListRefusal::OtherIssuer { .. }
                | ListRefusal::TooManyKept { .. }
        )
    }

    /// Whether the whole body may still do what a delta did not: the head itself was not at fault.
    pub fn concerns_content(&self) -> bool {
        matches!(
            self,
            ListRefusal::OtherBase { .. }
                | ListRefusal::NotItsName { .. }
                | ListRefusal::Body(_)
                | ListRefusal::ContentMissing
        )
    }
}
