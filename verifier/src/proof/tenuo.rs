//! Tenuo proofs, with and without our five members (protocol P1, P3).
//!
//! A proof is the holder's signature over `[warrant id, tool, [[name, argument], …], window]` in CBOR. The tool is the
//! warrant's, which is to say the action; the tool server's own name for it is one of our members.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{Action, Asked, Call, Json, PublicKey, Signature, UnixTime};
use sha2::{Digest, Sha256};

use super::{Audience, FreshProof, ProvenBy};
use crate::{
    act::Act,
    limits::{FUTURE_SKEW_SECONDS, PROOF_LIFETIME_SECONDS, PROOF_WINDOW_SECONDS, PROOF_WINDOWS_AROUND},
    refusal::Class,
};

mod message;
#[cfg(test)]
mod tests;

use message::{Member, Unwindowed};

/// Why a Tenuo proof is refused, or cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenuoProofFault {
    /// Arguments that are no object.
    #[error("the arguments of a call are an object")]
    NotAnObject,
    /// P2: an argument whose name would be taken for one of our members.
    #[error("the argument {0:?} begins with '@', which no argument may")]
    ReservedArgument(String),
    /// A number that would be signed as another one.
    #[error("the argument {0:?} holds a number with more digits than a proof keeps")]
    InexactNumber(String),
    /// P3: a stock proof names the tool as the warrant does, so both names must be one.
    #[error(
        "the tool {tool:?} stands for the action {action}, which only a proof with @tool can cover; use pact-holder"
    )]
    Renamed {
        /// The tool server's name.
        tool: String,
        /// The warrant's name.
        action: Action,
    },
    /// Made longer ago than a proof counts.
    #[error("the proof is of {made_at}; {PROOF_LIFETIME_SECONDS} seconds are the most")]
    TooOld {
        /// When it says it was made.
        made_at: UnixTime,
    },
    /// Made in the future.
    #[error("the proof is of {made_at}, which is in the future: compare the clocks")]
    FromTheFuture {
        /// When it says it was made.
        made_at: UnixTime,
    },
    /// Not the holder's signature over this call.
    #[error("the proof is not the holder's signature over this very call")]
    BadSignature,
}

impl TenuoProofFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            TenuoProofFault::NotAnObject => "tenuo_proof_arguments_no_object",
            TenuoProofFault::ReservedArgument(_) => "tenuo_proof_reserved_argument",
            TenuoProofFault::InexactNumber(_) => "tenuo_proof_inexact_number",
            TenuoProofFault::Renamed { .. } => "tenuo_proof_tool_renamed",
            TenuoProofFault::TooOld { .. } => "tenuo_proof_too_old",
            TenuoProofFault::FromTheFuture { .. } => "tenuo_proof_from_the_future",
            TenuoProofFault::BadSignature => "tenuo_proof_invalid",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            TenuoProofFault::NotAnObject
            | TenuoProofFault::ReservedArgument(_)
            | TenuoProofFault::InexactNumber(_) => Class::Malformed,
            TenuoProofFault::Renamed { .. }
            | TenuoProofFault::TooOld { .. }
            | TenuoProofFault::FromTheFuture { .. }
            | TenuoProofFault::BadSignature => Class::Unauthenticated,
        }
    }

    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        match self {
            TenuoProofFault::ReservedArgument(_) => "P2",
            TenuoProofFault::Renamed { .. } => "P3",
            TenuoProofFault::NotAnObject
            | TenuoProofFault::InexactNumber(_)
            | TenuoProofFault::TooOld { .. }
            | TenuoProofFault::FromTheFuture { .. }
            | TenuoProofFault::BadSignature => "P1",
        }
    }
}

/// What stock Tenuo signs: the raw arguments alone. `at` is any second of the window.
pub fn message_stock(
    warrant_id: &[u8; 16],
    action: &Action,
    arguments: &Json,
    at: UnixTime,
) -> Result<Vec<u8>, TenuoProofFault> {
    Ok(stock(warrant_id, action, arguments)?.in_window(window_of(at)))
}

/// What a holder signs so that the proof is for one call at one place (protocol P1): beside the raw arguments `@aud`,
/// `@iat`, `@id`, `@params` and `@tool`.
pub fn message_p1(
    warrant_id: &[u8; 16],
    action: &Action,
    asked: &Asked,
    audience: &Audience,
    fresh: &FreshProof,
) -> Result<Vec<u8>, TenuoProofFault> {
    message_named(warrant_id, action.as_str(), asked, audience, fresh)
}

/// The same for whatever stands in the action's place.
pub(crate) fn message_named(
    warrant_id: &[u8; 16],
    name: &str,
    asked: &Asked,
    audience: &Audience,
    fresh: &FreshProof,
) -> Result<Vec<u8>, TenuoProofFault> {
    let ours = [
        ("@aud", Member::Text(audience.as_str())),
        ("@iat", Member::Seconds(fresh.issued_at)),
        ("@id", Member::Text(&URL_SAFE_NO_PAD.encode(fresh.id))),
        ("@params", Member::Text(&URL_SAFE_NO_PAD.encode(asked.params))),
        ("@tool", Member::Text(&asked.tool)),
    ];
    let message = Unwindowed::of(warrant_id, name, &asked.arguments, &ours)?;
    Ok(message.in_window(window_of(fresh.issued_at)))
}

/// Whether `signature` proves that the caller holds `holder`, for this very call under this very warrant.
/// Whether a proof without `fresh` is welcome at all is for the policy to say (protocol P3).
pub(crate) fn verify(
    warrant_id: &[u8; 16],
    holder: &PublicKey,
    call: &Call,
    audience: &Audience,
    signature: &Signature,
    fresh: Option<&FreshProof>,
    now: UnixTime,
) -> Result<ProvenBy, TenuoProofFault> {
    let action = &call.judged.action;
    let Some(fresh) = fresh else {
        check_same_name(&call.asked.tool, action)?;
        let message = stock(warrant_id, action, &call.asked.arguments)?;
        return verify_stock(&message, holder, signature, now);
    };
    check_time(fresh, now)?;
    let message = message_p1(warrant_id, action, &call.asked, audience, fresh)?;
    verify_fresh(&message, holder, signature, fresh)
}

/// Whether `signature` proves that the caller holds `holder`, for this very act under this very warrant.
pub(crate) fn verify_act(
    warrant_id: &[u8; 16],
    holder: &PublicKey,
    act: &Act,
    audience: &Audience,
    signature: &Signature,
    fresh: &FreshProof,
    now: UnixTime,
) -> Result<ProvenBy, TenuoProofFault> {
    check_time(fresh, now)?;
    // Texts and the digits of an integer have a canonical form, or the id was none that could be signed.
    let asked = act.asked().map_err(|_| TenuoProofFault::InexactNumber("id".to_owned()))?;
    let message = message_named(warrant_id, act.name().as_str(), &asked, audience, fresh)?;
    verify_fresh(&message, holder, signature, fresh)
}

fn check_time(fresh: &FreshProof, now: UnixTime) -> Result<(), TenuoProofFault> {
    let made_at = fresh.issued_at;
    if made_at > now.plus(FUTURE_SKEW_SECONDS) {
        return Err(TenuoProofFault::FromTheFuture { made_at });
    }
    if now.since(made_at) > PROOF_LIFETIME_SECONDS {
        return Err(TenuoProofFault::TooOld { made_at });
    }
    Ok(())
}

fn verify_fresh(
    message: &[u8],
    holder: &PublicKey,
    signature: &Signature,
    fresh: &FreshProof,
) -> Result<ProvenBy, TenuoProofFault> {
    let made_at = fresh.issued_at;
    holder.verify(message, signature).map_err(|_| TenuoProofFault::BadSignature)?;
    let ends_at = made_at.plus(PROOF_LIFETIME_SECONDS + 1);
    Ok(ProvenBy { holder: *holder, id: Sha256::digest(message).into(), made_at, ends_at })
}

/// The present window, then the ones around it: the one before is more likely than the one after.
fn verify_stock(
    message: &Unwindowed,
    holder: &PublicKey,
    signature: &Signature,
    now: UnixTime,
) -> Result<ProvenBy, TenuoProofFault> {
    let present = window_of(now);
    let around = (1..=PROOF_WINDOWS_AROUND).flat_map(|count| {
        let distance = count * PROOF_WINDOW_SECONDS;
        [present.minus(distance), present.plus(distance)]
    });
    for made_at in std::iter::once(present).chain(around) {
        let message = message.in_window(made_at);
        if holder.verify(&message, signature).is_ok() {
            let ends_at = made_at.plus((PROOF_WINDOWS_AROUND + 1) * PROOF_WINDOW_SECONDS);
            return Ok(ProvenBy { holder: *holder, id: Sha256::digest(&message).into(), made_at, ends_at });
        }
    }
    Err(TenuoProofFault::BadSignature)
}

/// Raw arguments that begin with `@` are refused here too, so that no stock proof passes for one of ours (protocol P2).
fn stock(warrant_id: &[u8; 16], action: &Action, arguments: &Json) -> Result<Unwindowed, TenuoProofFault> {
    Unwindowed::of(warrant_id, action.as_str(), arguments, &[])
}

fn check_same_name(tool: &str, action: &Action) -> Result<(), TenuoProofFault> {
    if tool == action.as_str() {
        return Ok(());
    }
    Err(TenuoProofFault::Renamed { tool: tool.to_owned(), action: action.clone() })
}

fn window_of(time: UnixTime) -> UnixTime {
    time.minus(time.seconds() % PROOF_WINDOW_SECONDS)
}
