//! What a warrant can have wrong where it stands.

use pact_mandate::UnixTime;

/// What is wrong with one warrant where it stands: its root, its parent, the clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// The first warrant was not signed by a root that is trusted.
    #[error(
        "its issuer is no trusted root: the chain may lack its first warrants, or the root was never pinned"
    )]
    UntrustedRoot,
    /// A trusted root whose issuer may not speak in this format.
    #[error("its issuer is trusted, but not for Tenuo warrants (speaks.formats)")]
    NotSpeaking,
    /// The first warrant is one from the middle of a chain.
    #[error("it is not the root of a chain (depth {depth}): present the whole stack, from the root on")]
    NotARoot {
        /// The depth it states.
        depth: u32,
    },
    /// The signature does not verify under the key that must have made it.
    #[error(
        "its signature does not verify under the key of the parent's holder (for the first: of the root)"
    )]
    BadSignature,
    /// I1: issued by another than the parent's holder.
    #[error("it was not issued by the holder of its parent")]
    WrongIssuer,
    /// I5: hangs from another parent.
    #[error("its parent hash is not that of the warrant before it")]
    WrongParent,
    /// I2: does not count up by one.
    #[error("its depth is {found}, not {expected}")]
    WrongDepth {
        /// One more than the parent's.
        expected: u32,
        /// What it says.
        found: u32,
    },
    /// I2: deeper than the parent, or the warrant itself, allows.
    #[error("its depth {depth} is past the {most} that the chain allows")]
    DepthExceeded {
        /// Its depth.
        depth: u32,
        /// What is allowed.
        most: u32,
    },
    /// I2: would allow more depth than its parent.
    #[error("it allows a depth of {found}, its parent {parent}")]
    DepthRaised {
        /// What it says.
        found: u8,
        /// What its parent says.
        parent: u8,
    },
    /// Over.
    #[error("it expired at {0}")]
    Expired(UnixTime),
    /// Issued in the future.
    #[error("it was issued at {0} (Unix seconds), in the future: compare the clocks")]
    NotYetValid(u64),
    /// Ends before it begins.
    #[error("it expires at or before its issue")]
    NoLifetime,
    /// Longer than Tenuo's cap of 90 days.
    #[error("it lives for {0} seconds; 90 days are the most")]
    LivesTooLong(u64),
    /// I3: ends after its parent.
    #[error("it ends after its parent")]
    OutlivesParent,
    /// I3: older than its parent.
    #[error("it was issued before its parent")]
    OlderThanParent,
    /// The same id twice in one stack.
    #[error("its id stands in the stack before")]
    DuplicateId,
    /// Another session than the parent's.
    #[error("it belongs to another session than its parent")]
    OtherSession,
    /// More clearance than the parent (absent is 0).
    #[error("it claims clearance {found}, its parent has {parent}")]
    ClearanceRaised {
        /// What it claims.
        found: u8,
        /// What its parent has.
        parent: u8,
    },
    /// I4: a tool that the parent does not grant.
    #[error("its parent does not grant the tool {0:?}")]
    ToolAdded(String),
    /// I4: a tool for which an ancestor had an entry of its own cannot come back through `*`.
    #[error("an ancestor restricts the tool {0:?}, so that `*` does not stand for it")]
    ToolReopened(String),
    /// I4: other arguments than the parent names.
    #[error("the tool {tool:?} does not name exactly the arguments that the parent names ({argument:?})")]
    ArgumentsChanged {
        /// The tool.
        tool: String,
        /// The argument that one of both names.
        argument: String,
    },
    /// I4: allows unnamed arguments where the parent does not.
    #[error("the tool {0:?} admits arguments that it does not name, its parent does not")]
    UnknownAdmitted(String),
    /// I4: a constraint that is not known to be narrower.
    #[error("the constraint on {argument:?} of the tool {tool:?} is not within the parent's")]
    Widened {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
    /// Comparing constraints would take too long.
    #[error("its constraints take too long to compare with the parent's")]
    TooMuchWork,
    /// An execution warrant cannot make an issuer.
    #[error("an issuer warrant cannot hang from an execution warrant")]
    IssuerFromExecution,
    /// The holder of an issuer warrant cannot issue to itself or its own issuer.
    #[error("an issuer warrant cannot issue to its own holder or issuer")]
    SelfIssued,
    /// A tool that the issuer warrant may not issue.
    #[error("the tool {0:?} is not among those its parent may issue")]
    NotIssuable(String),
    /// An issuer warrant without the bounds of its parent.
    #[error("it drops the constraint bounds of its parent")]
    BoundsDropped,
    /// Deeper than the issuer warrant may issue, or without that bound.
    #[error("it goes past the issue depth of {0} that its parent allows")]
    IssueDepthExceeded(u32),
    /// Approvers, threshold or gates of the parent are missing or weaker.
    #[error("it keeps fewer approvals than its parent requires")]
    ApprovalsDropped,
    /// `pact.source` in another warrant than the first (protocol C6).
    #[error("only the first warrant can name the source it was imported from")]
    MisplacedSource,
}

impl LinkFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            LinkFault::UntrustedRoot => "tenuo_untrusted_root",
            LinkFault::NotSpeaking => "tenuo_issuer_not_speaking",
            LinkFault::NotARoot { .. } => "tenuo_not_a_root",
            LinkFault::BadSignature => "tenuo_signature_invalid",
            LinkFault::WrongIssuer => "tenuo_wrong_issuer",
            LinkFault::WrongParent => "tenuo_wrong_parent",
            LinkFault::WrongDepth { .. } => "tenuo_wrong_depth",
            LinkFault::DepthExceeded { .. } => "tenuo_depth_exceeded",
            LinkFault::DepthRaised { .. } => "tenuo_depth_raised",
            LinkFault::Expired(_) => "tenuo_expired",
            LinkFault::NotYetValid(_) => "tenuo_not_yet_valid",
            LinkFault::NoLifetime => "tenuo_no_lifetime",
            LinkFault::LivesTooLong(_) => "tenuo_lives_too_long",
            LinkFault::OutlivesParent => "tenuo_outlives_parent",
            LinkFault::OlderThanParent => "tenuo_older_than_parent",
            LinkFault::DuplicateId => "tenuo_duplicate_id",
            LinkFault::OtherSession => "tenuo_other_session",
            LinkFault::ClearanceRaised { .. } => "tenuo_clearance_raised",
            LinkFault::ToolAdded(_) => "tenuo_tool_added",
            LinkFault::ToolReopened(_) => "tenuo_tool_reopened",
            LinkFault::ArgumentsChanged { .. } => "tenuo_arguments_changed",
            LinkFault::UnknownAdmitted(_) => "tenuo_unknown_arguments_admitted",
            LinkFault::Widened { .. } => "tenuo_constraint_widened",
            LinkFault::TooMuchWork => "tenuo_too_much_work",
            LinkFault::IssuerFromExecution => "tenuo_issuer_from_execution",
            LinkFault::SelfIssued => "tenuo_self_issued",
            LinkFault::NotIssuable(_) => "tenuo_not_issuable",
            LinkFault::BoundsDropped => "tenuo_bounds_dropped",
            LinkFault::IssueDepthExceeded(_) => "tenuo_issue_depth_exceeded",
            LinkFault::ApprovalsDropped => "tenuo_approvals_dropped",
            LinkFault::MisplacedSource => "tenuo_misplaced_source",
        }
    }
}
