//! A list on its way to being signed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use pact_mandate::{
    Format, IssuerId, KeyId, PublicKey, Signature, Signer, Statement, UnixTime,
    signed::{Extensions, Prepared, SignedError},
};

use crate::{
    body::Body,
    delta::Delta,
    entries::Entries,
    expiry::{Listed, Minute, Row},
    head::{DeltaName, EntriesName, Head, HeadFault, HeadWire, SourceTime},
    limits::{MAX_DELTAS, MAX_ENTRIES, MIN_DELTA_ALLOWANCE, NEXT_UPDATE_SECONDS},
    list::{ListVersion, VersionOutOfRange},
    published::{Published, Stored},
};

/// The next list of an issuer, before it is signed.
///
/// Listing is final (protocol R3): there is no way to take an entry out. It leaves by itself, ten minutes after its expiry.
#[derive(Clone, Debug)]
pub struct Draft {
    issuer: IssuerId,
    previous: Option<Published>,
    revoked: Vec<Row>,
    covers: BTreeSet<Format>,
    sources: BTreeMap<IssuerId, SourceTime>,
    good_for: u64,
}

/// The exact bytes of a head that is about to be signed, and the bodies that it names.
pub struct PreparedList {
    head: Prepared<Head>,
    body: Stored<Body>,
    deltas: Vec<Stored<Delta>>,
}

/// Why a draft is not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// Past the bound.
    #[error("the list would hold {count} entries, at most {MAX_ENTRIES} are possible")]
    TooMany {
        /// How many there would be.
        count: usize,
    },
    /// No number is left.
    #[error(transparent)]
    Version(#[from] VersionOutOfRange),
    /// What the caller gave makes no head.
    #[error("the head would be refused: {0}")]
    Head(#[from] HeadFault),
    /// No statement, or no signature.
    #[error(transparent)]
    Signed(#[from] SignedError),
}

impl Draft {
    /// The first list of an issuer. It covers every format until [`Draft::covering`] says less.
    pub fn first(issuer: IssuerId) -> Draft {
        Draft {
            issuer,
            previous: None,
            revoked: Vec::new(),
            covers: Format::ALL.into_iter().collect(),
            sources: BTreeMap::new(),
            good_for: NEXT_UPDATE_SECONDS,
        }
    }

    /// The list after this one. Formats and sources stay as they were until they are said anew.
    pub fn after(previous: &Published) -> Draft {
        let head = previous.head().statement();
        Draft {
            issuer: head.issuer().clone(),
            covers: head.covers().clone(),
            sources: head.sources().clone(),
            good_for: head.next_update().since(head.issued_at()),
            revoked: Vec::new(),
            previous: Some(previous.clone()),
        }
    }

    /// Lists these too. What is listed already stays as it is, or longer when it expires later now.
    #[must_use]
    pub fn revoke(mut self, listed: impl IntoIterator<Item = Listed>) -> Draft {
        self.revoked.extend(listed.into_iter().map(Row::from));
        self
    }

    /// The formats whose credentials the list speaks for. Of any other format nobody's credential is live (protocol R4).
    #[must_use]
    pub fn covering(mut self, formats: impl IntoIterator<Item = Format>) -> Draft {
        self.covers = formats.into_iter().collect();
        self
    }

    /// The sources of imported mandates, with the signed times of their lists (protocol C6); replaces what was said before.
    #[must_use]
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = (IssuerId, SourceTime)>) -> Draft {
        self.sources = sources.into_iter().collect();
        self
    }

    /// Seconds from signing to `next_update`; 60 unless said.
    #[must_use]
    pub fn good_for(mut self, seconds: u64) -> Draft {
        self.good_for = seconds;
        self
    }

    /// Fixes the bytes. When the set is that of the list before, this is a refresh: the same number, bodies and deltas under
    /// a later `issued_at` (protocol R1, R6).
    pub fn prepare(self, now: UnixTime) -> Result<PreparedList, DraftError> {
        let left = first_to_stay(now);
        let held = self.previous.as_ref().map(|previous| previous.body().entries());
        let set = next_set(held, &self.revoked, left);
        let count = set.len();
        if u64::try_from(count).is_ok_and(|count| count > MAX_ENTRIES) {
            return Err(DraftError::TooMany { count });
        }
        match self.previous.clone() {
            Some(previous) if *previous.body().entries() == set => self.refresh(&previous, now),
            Some(previous) => self.change(&previous, set, left, now),
            None => {
                let body = Stored::body(set);
                self.head(ListVersion::FIRST, None, body, Vec::new(), now)
            }
        }
    }

    /// Prepares and signs.
    pub fn sign(self, signer: &dyn Signer, now: UnixTime) -> Result<Published, DraftError> {
        let PreparedList { head, body, deltas } = self.prepare(now)?;
        Ok(Published::new(head.sign(signer)?, body, deltas))
    }

    fn refresh(self, previous: &Published, now: UnixTime) -> Result<PreparedList, DraftError> {
        let before = previous.head().statement().previous().copied();
        let (body, deltas) = (previous.stored_body().clone(), previous.stored_deltas().to_vec());
        self.head(previous.version(), before, body, deltas, now)
    }

    fn change(
        self,
        previous: &Published,
        set: Entries,
        left: Minute,
        now: UnixTime,
    ) -> Result<PreparedList, DraftError> {
        let held = previous.body().entries();
        // Rows that are new, and rows whose expiry moved.
        let added: Vec<Row> =
            set.rows().iter().filter(|row| held.find(&row.entry) != Some(row.until)).copied().collect();
        let body = Stored::body(set);
        let newest = Delta::from_list(previous.version(), *previous.body().name());
        let older = previous.stored_deltas().iter().map(|delta| &*delta.value);
        let deltas = std::iter::once(&newest).chain(older).map(|delta| delta.extended(&added, left));
        let deltas = within_allowance(deltas, body.size());
        let version = previous.version().next()?;
        self.head(version, Some(*previous.body().name()), body, deltas, now)
    }

    fn head(
        self,
        version: ListVersion,
        previous: Option<crate::name::BodyName>,
        body: Stored<Body>,
        deltas: Vec<Stored<Delta>>,
        now: UnixTime,
    ) -> Result<PreparedList, DraftError> {
        let name = |delta: &Stored<Delta>| DeltaName { from: delta.value.from(), sha256: delta.name };
        let head = Head::new(HeadWire {
            covers: self.covers,
            crit: Vec::new(),
            deltas: deltas.iter().map(name).collect(),
            entries: EntriesName::of(&body.value),
            ext: Extensions::new(),
            issued_at: now,
            issuer: self.issuer,
            next_update: now.plus(self.good_for),
            previous,
            sources: self.sources,
            typ: Head::TYP.to_owned(),
            version,
        })?;
        Ok(PreparedList { head: Prepared::new(head)?, body, deltas })
    }
}

/// The lowest expiry that has not left a list signed now (protocol R6).
fn first_to_stay(now: UnixTime) -> Minute {
    let kept = now.seconds().checked_sub(crate::limits::KEEP_AFTER_EXPIRY_SECONDS);
    kept.and_then(|kept| u32::try_from(kept / 60 + 1).ok()).map_or(Minute::ZERO, Minute::from_number)
}

fn next_set(held: Option<&Entries>, revoked: &[Row], left: Minute) -> Entries {
    let held = held.map_or(&[][..], |entries| entries.rows());
    let stays = |row: &&Row| row.until >= left;
    if revoked.is_empty() {
        return Entries::from_sorted(held.iter().filter(stays).copied().collect());
    }
    Entries::from_rows(held.iter().chain(revoked).filter(stays).copied().collect())
}

/// The newest deltas that together are not longer than the body: whoever is further behind reads the body.
fn within_allowance(deltas: impl Iterator<Item = Delta>, body: u64) -> Vec<Stored<Delta>> {
    let mut left = body.max(MIN_DELTA_ALLOWANCE);
    deltas
        .take(MAX_DELTAS)
        .map(Stored::delta)
        .map_while(|delta| {
            left = left.checked_sub(delta.size())?;
            Some(delta)
        })
        .collect()
}

impl PreparedList {
    /// The bytes to be signed.
    pub fn bytes(&self) -> &[u8] {
        self.head.bytes()
    }

    /// Accepts a signature that was made elsewhere, after checking it (protocol K7).
    pub fn issue(self, id: KeyId, key: &PublicKey, signature: Signature) -> Result<Published, DraftError> {
        Ok(Published::new(self.head.issue(id, key, signature)?, self.body, self.deltas))
    }
}

impl Stored<Body> {
    fn body(entries: Entries) -> Stored<Body> {
        let (body, bytes) = Body::encode(entries);
        Stored { name: *body.name(), bytes: bytes.into(), value: Arc::new(body) }
    }
}

impl Stored<Delta> {
    fn delta(delta: Delta) -> Stored<Delta> {
        let bytes = delta.to_bytes();
        Stored { name: crate::name::BodyName::of(&bytes), bytes: bytes.into(), value: Arc::new(delta) }
    }
}

#[cfg(test)]
mod tests;
