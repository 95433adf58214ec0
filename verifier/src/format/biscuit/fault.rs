//! Every way in which a Biscuit is refused, each with its place and its code.

use std::fmt;

use pact_mandate::{UnixTime, amount::AmountError};

use super::defect::Defect;
use crate::refusal::Class;

/// Why a token is refused. No text of the token is in it beyond the names that our rules reserve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BiscuitFault {
    /// Longer than the bound.
    #[error("the token is longer than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// Its structure, judged before any signature or evaluation.
    #[error("the token is not admitted: {place}: {defect}")]
    Structure {
        /// Where.
        place: Place,
        /// What.
        defect: Defect,
    },
    /// No trusted root has that id.
    #[error(
        "no trusted root key has the root key id {id:?}: the issuer's keys are not configured here, or not any more"
    )]
    UnknownRoot {
        /// The token's root key id; it is not signed.
        id: Option<u32>,
    },
    /// The root's issuer may not speak in this format (protocol K2).
    #[error("the issuer of the root key may not speak in Biscuit tokens")]
    FormatNotSpoken,
    /// A signature, key or seal that does not hold.
    #[error("the token's signatures do not verify under {candidates} trusted root key(s) of that id")]
    BadSignature {
        /// How many roots were tried.
        candidates: usize,
    },
    /// Admitted, but the engine does not read it; a fault of ours.
    #[error("the engine does not read the admitted token")]
    Unreadable,
    /// Past its end.
    #[error("the token ended at {ended}")]
    Expired {
        /// The earliest end of any of its blocks.
        ended: UnixTime,
    },
    /// Valid for longer than any credential lives.
    #[error("the token would live until {ends}, longer than any credential: give it an earlier end")]
    LivesTooLong {
        /// Its end.
        ends: UnixTime,
    },
    /// No statement of a recognised form bounds its life.
    #[error("no block bounds the token's life with `check if time($t), $t <= …`")]
    UnboundedExpiry,
    /// The judged call names no project.
    #[error("the call names no project, or not in the right form")]
    NoProject,
    /// More judged arguments than the bound.
    #[error("the call has more than {limit} judged arguments")]
    TooManyArguments {
        /// The bound.
        limit: usize,
    },
    /// A number that is no amount.
    #[error("argument {argument}: {fault}")]
    ArgumentNotAnAmount {
        /// Which argument.
        argument: String,
        /// Why.
        fault: AmountError,
    },
    /// A number between two millionths, where the token bounds arguments from below.
    #[error(
        "argument {argument} has more than 6 digits after the point, and the token bounds arguments from below"
    )]
    ArgumentTooFine {
        /// Which argument.
        argument: String,
    },
    /// Neither number, text nor boolean.
    #[error("argument {argument} is neither a number, a text nor a boolean")]
    ArgumentNotScalar {
        /// Which argument.
        argument: String,
    },
    /// A check of the token does not pass.
    #[error("check {check} of block {block} does not pass for this call")]
    CheckFailed {
        /// Which block, from 0.
        block: usize,
        /// Which check of it, from 0.
        check: usize,
    },
    /// Every check passes, but the authority block grants no such right.
    #[error("the authority block grants no right for this tool in this project")]
    NotGranted,
    /// A statement met a value of a kind that it cannot take.
    #[error(
        "a statement of the token cannot be evaluated for this call (an argument of another type than it expects)"
    )]
    NotEvaluable,
    /// The engine's own limits; the structural limits should never let this happen.
    #[error("the engine stopped at its own limits")]
    EngineLimit,
    /// As many evaluations run and wait as may.
    #[error("too many evaluations run and wait; try again")]
    EngineBusy,
    /// The engine panicked.
    #[error("the engine failed on this token")]
    EnginePanicked,
}

/// Where in a token: from 0, as in the token's own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its envelope: keys, signatures, proof.
    Envelope,
    /// A block, outside its statements.
    Block(usize),
    /// A fact.
    Fact {
        /// Of which block.
        block: usize,
        /// Which.
        fact: usize,
    },
    /// A rule.
    Rule {
        /// Of which block.
        block: usize,
        /// Which.
        rule: usize,
    },
    /// A check.
    Check {
        /// Of which block.
        block: usize,
        /// Which.
        check: usize,
    },
}

impl Place {
    /// The refusal of a defect here.
    pub(super) fn refuse(self, defect: Defect) -> BiscuitFault {
        BiscuitFault::Structure { place: self, defect }
    }

    /// The block, when it is in one.
    pub fn block(self) -> Option<usize> {
        match self {
            Place::Envelope => None,
            Place::Block(block)
            | Place::Fact { block, .. }
            | Place::Rule { block, .. }
            | Place::Check { block, .. } => Some(block),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Envelope => f.write_str("envelope"),
            Place::Block(block) => write!(f, "block {block}"),
            Place::Fact { block, fact } => write!(f, "block {block}, fact {fact}"),
            Place::Rule { block, rule } => write!(f, "block {block}, rule {rule}"),
            Place::Check { block, check } => write!(f, "block {block}, check {check}"),
        }
    }
}

impl BiscuitFault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            BiscuitFault::TooLarge { .. } => "biscuit_too_large",
            BiscuitFault::Structure { defect, .. } => defect.code(),
            BiscuitFault::UnknownRoot { .. } => "biscuit_unknown_root",
            BiscuitFault::FormatNotSpoken => "biscuit_format_not_spoken",
            BiscuitFault::BadSignature { .. } => "biscuit_bad_signature",
            BiscuitFault::Unreadable => "biscuit_unreadable",
            BiscuitFault::Expired { .. } => "biscuit_expired",
            BiscuitFault::LivesTooLong { .. } => "biscuit_lives_too_long",
            BiscuitFault::UnboundedExpiry => "biscuit_unbounded_expiry",
            BiscuitFault::NoProject => "biscuit_no_project",
            BiscuitFault::TooManyArguments { .. } => "biscuit_too_many_arguments",
            BiscuitFault::ArgumentNotAnAmount { .. } => "biscuit_argument_not_an_amount",
            BiscuitFault::ArgumentTooFine { .. } => "biscuit_argument_too_fine",
            BiscuitFault::ArgumentNotScalar { .. } => "biscuit_argument_not_scalar",
            BiscuitFault::CheckFailed { .. } => "biscuit_check_failed",
            BiscuitFault::NotGranted => "biscuit_not_granted",
            BiscuitFault::NotEvaluable => "biscuit_not_evaluable",
            BiscuitFault::EngineLimit => "biscuit_engine_limit",
            BiscuitFault::EngineBusy => "biscuit_engine_busy",
            BiscuitFault::EnginePanicked => "biscuit_engine_panicked",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            BiscuitFault::TooLarge { .. } | BiscuitFault::Structure { .. } => Class::Malformed,
            BiscuitFault::UnknownRoot { .. }
            | BiscuitFault::FormatNotSpoken
            | BiscuitFault::BadSignature { .. }
            | BiscuitFault::Unreadable
            | BiscuitFault::Expired { .. }
            | BiscuitFault::LivesTooLong { .. }
            | BiscuitFault::UnboundedExpiry => Class::Unauthenticated,
            BiscuitFault::NoProject
            | BiscuitFault::TooManyArguments { .. }
            | BiscuitFault::ArgumentNotAnAmount { .. }
            | BiscuitFault::ArgumentTooFine { .. }
            | BiscuitFault::ArgumentNotScalar { .. }
            | BiscuitFault::CheckFailed { .. }
            | BiscuitFault::NotGranted
            | BiscuitFault::NotEvaluable => Class::Forbidden,
            BiscuitFault::EngineLimit | BiscuitFault::EngineBusy | BiscuitFault::EnginePanicked => {
                Class::Unavailable
            }
        }
    }

    /// The block at fault, where there is one.
    pub fn block(&self) -> Option<usize> {
        match self {
            BiscuitFault::Structure { place, .. } => place.block(),
            BiscuitFault::CheckFailed { block, .. } => Some(*block),
            _ => None,
        }
    }
}
