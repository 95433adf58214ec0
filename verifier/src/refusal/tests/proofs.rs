//! One of each refusal of a proof.

use pact_mandate::{
    UnixTime,
    canonical::CanonicalError,
    json::{JsonError, JsonFault},
};

use crate::{
    proof::{ProofFault, dpop::DpopFault, tenuo::TenuoProofFault},
    refusal::Refusal,
};

fn tenuo() -> [TenuoProofFault; 7] {
    [
        TenuoProofFault::NotAnObject,
        TenuoProofFault::ReservedArgument("@id".to_owned()),
        TenuoProofFault::InexactNumber("x".to_owned()),
        TenuoProofFault::Renamed { tool: "read".to_owned(), action: "task.read".parse().unwrap() },
        TenuoProofFault::TooOld { made_at: UnixTime::EPOCH },
        TenuoProofFault::FromTheFuture { made_at: UnixTime::MAX },
        TenuoProofFault::BadSignature,
    ]
}

fn dpop() -> Vec<DpopFault> {
    vec![
        DpopFault::TooLarge,
        DpopFault::NotJws,
        DpopFault::NotJson(JsonError { fault: JsonFault::NotUtf8, at: 0 }),
        DpopFault::UnknownMember { at: 0 },
        DpopFault::Nonce,
        DpopFault::Missing { member: "iat" },
        DpopFault::NotAText { member: "jti" },
        DpopFault::Type,
        DpopFault::Algorithm,
        DpopFault::Key,
        DpopFault::PrivateKey,
        DpopFault::NotTheHolder,
        DpopFault::Signature,
        DpopFault::Method,
        DpopFault::Target,
        DpopFault::Token,
        DpopFault::Id,
        DpopFault::NotATime,
        DpopFault::TooOld { seconds: 61 },
        DpopFault::FromTheFuture { seconds: 6 },
        DpopFault::Tool,
        DpopFault::Arguments,
        DpopFault::Params,
        DpopFault::ReservedArgument,
        DpopFault::NotCanonical(CanonicalError::NotCanonical),
    ]
}

pub(super) fn all() -> Vec<Refusal> {
    let tenuo = tenuo().into_iter().map(ProofFault::Tenuo);
    tenuo.chain(dpop().into_iter().map(ProofFault::Dpop)).map(Refusal::Proof).collect()
}
