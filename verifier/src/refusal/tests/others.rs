//! One of each refusal that is neither of a credential's format nor of a proof.

use std::{io, time::Duration};

use pact_mandate::{Format, IssuerId, UnixTime};
use pact_revocation::{ListVersion, Stale};

use crate::{
    carriage::CarriageFault, chain::IssuerFault, held::PossessionFault, live::Revoked, policy::PolicyFault,
    presented::PresentedFault, refusal::Refusal, replay::ReplayFault, replay::StoreFailure,
};

const THEN: UnixTime = UnixTime::EPOCH;

fn issuer() -> IssuerId {
    "acme".parse().unwrap()
}

fn text() -> String {
    "x".to_owned()
}

fn carriage() -> [CarriageFault; 11] {
    [
        CarriageFault::NoCredential,
        CarriageFault::SecondCredential,
        CarriageFault::RepeatedHeader("x"),
        CarriageFault::MalformedHeader("x"),
        CarriageFault::MalformedMember("x"),
        CarriageFault::UnknownMember("x"),
        CarriageFault::UnknownScheme,
        CarriageFault::UnexpectedPart("x"),
        CarriageFault::ProofWithoutCredential,
        CarriageFault::ApprovalsNotJudged,
        CarriageFault::NotASignature,
    ]
}

fn presented() -> [PresentedFault; 3] {
    [
        PresentedFault::Empty(Format::Tenuo),
        PresentedFault::TooLong { format: Format::Tenuo, found: 2, limit: 1 },
        PresentedFault::NotBase64(Format::Tenuo),
    ]
}

fn issuers() -> [IssuerFault; 4] {
    [
        IssuerFault::FormatNotSpoken { issuer: issuer(), format: Format::Tenuo },
        IssuerFault::ScopeNotSpoken { issuer: issuer(), needed: "task.read@project:web".parse().unwrap() },
        IssuerFault::NoProject,
        IssuerFault::Gone(issuer()),
    ]
}

fn possession() -> [PossessionFault; 7] {
    [
        PossessionFault::ProofMissing,
        PossessionFault::WrongKind(Format::Tenuo),
        PossessionFault::StockProofRefused,
        PossessionFault::StockProofCoversLess,
        PossessionFault::BearerRefused(issuer()),
        PossessionFault::ProofWithoutHolder,
        PossessionFault::ActWithoutHolder,
    ]
}

fn stale() -> [Stale; 8] {
    let age = Duration::from_secs(61);
    [
        Stale::NoList,
        Stale::NotCovered { format: Format::Tenuo },
        Stale::TooOld { age },
        Stale::PastNextUpdate { next_update: THEN },
        Stale::FromTheFuture { issued_at: UnixTime::MAX, now: THEN },
        Stale::SourceMissing { source_issuer: issuer() },
        Stale::SourceTooOld { source_issuer: issuer(), age },
        Stale::SourceFromTheFuture { source_issuer: issuer(), signed_at: UnixTime::MAX },
    ]
}

fn policy() -> [PolicyFault; 12] {
    [
        PolicyFault::ToolNotMapped(text()),
        PolicyFault::ArgumentNotNamed(text()),
        PolicyFault::ReservedArgument(text()),
        PolicyFault::ArgumentsNotAnObject,
        PolicyFault::ArgumentFixed(text()),
        PolicyFault::ArgumentMissing(text()),
        PolicyFault::ArgumentOutside(text()),
        PolicyFault::ValueNotMapped(text()),
        PolicyFault::ArgumentsDiffer(text()),
        PolicyFault::PathNotPlain(text()),
        PolicyFault::LimitUnmapped { tool: text(), key: text() },
        PolicyFault::JudgedOtherwise,
    ]
}

fn replay() -> [ReplayFault; 7] {
    [
        ReplayFault::Replayed,
        ReplayFault::BeforeStore { first_use: THEN, since: THEN },
        ReplayFault::Forgotten { ends_at: THEN, floor: THEN },
        ReplayFault::QuotaReached { limit: 1 },
        ReplayFault::GrantQuotaReached { limit: 1 },
        ReplayFault::Full { limit: 1 },
        ReplayFault::Failed(StoreFailure { doing: "write", kind: io::ErrorKind::StorageFull }),
    ]
}

pub(super) fn all() -> Vec<Refusal> {
    let revoked = Revoked { issuer: issuer(), version: ListVersion::FIRST, link: Some(0) };
    let stale = stale().map(|stale| Refusal::Stale { issuer: issuer(), stale });
    let mut all = vec![Refusal::Expired(THEN), Refusal::Revoked(revoked)];
    all.extend(carriage().map(Refusal::Carriage));
    all.extend(presented().map(Refusal::Presented));
    all.extend(issuers().map(Refusal::Issuer));
    all.extend(possession().map(Refusal::Possession));
    all.extend(stale);
    all.extend(policy().map(Refusal::Policy));
    all.extend(replay().map(Refusal::Replay));
    all
}
