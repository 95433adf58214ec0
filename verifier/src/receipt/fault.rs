//! Why lines are not the receipts that a sidecar wrote.

use pact_mandate::chainlog::{Broken, WhyBroken};

use crate::limits::MAX_RECEIPT_CODES;

/// Where, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ReceiptFault {
    /// Which line of its file, counted from 1.
    pub line: u64,
    /// Why.
    pub why: WhyNoReceipt,
}

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyNoReceipt {
    /// The chain of lines.
    #[error(transparent)]
    Chain(#[from] WhyBroken),
    /// A file or log whose first line does not say what it follows.
    #[error("the first line of a file, and of a log, must say what it follows")]
    NotOpened,
    /// An opening in the middle of a log.
    #[error("it says that a file begins, in the middle of one")]
    OpenedAgain,
    /// Between what was read before and this, something is missing or was changed.
    #[error(
        "it follows file {file} up to another line than the last one that was read: lines or files are missing"
    )]
    NotAfter {
        /// The file that it says it follows.
        file: u64,
    },
    /// It follows nothing, though something came before.
    #[error("it says that nothing came before it, but something did")]
    FollowsNothing,
    /// The bytes behind the last whole line of the file before are not those that it names.
    #[error("the file before ends in {found} bytes of an unfinished line, and this one says {told}")]
    Torn {
        /// How many there are.
        found: u64,
        /// How many there were.
        told: u64,
    },
    /// A receipt whose members do not go together.
    #[error("its members do not go together")]
    Inconsistent,
    /// More codes than any sidecar has.
    #[error("there are more than {MAX_RECEIPT_CODES} different codes")]
    TooManyCodes,
}

impl From<Broken> for WhyNoReceipt {
    fn from(broken: Broken) -> WhyNoReceipt {
        WhyNoReceipt::Chain(broken.why)
    }
}
