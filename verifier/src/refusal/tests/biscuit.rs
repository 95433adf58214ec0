//! One of each refusal of a Biscuit token.

use pact_mandate::{UnixTime, amount::AmountError};

use crate::{
    format::biscuit::{BiscuitFault, Defect, Place},
    refusal::Refusal,
};

fn defects() -> Vec<Defect> {
    vec![
        Defect::Truncated,
        Defect::Encoding,
        Defect::UnknownField { number: 1 },
        Defect::UnknownValue { what: "x", value: 1 },
        Defect::Missing { what: "x" },
        Defect::NotText,
        Defect::ControlCharacter,
        Defect::TextTooLong { limit: 1 },
        Defect::TooMany { what: "x", limit: 1 },
        Defect::Version { found: 9 },
        Defect::NewerThanVersion { needed: 6, declared: 3 },
        Defect::SymbolRepeated,
        Defect::SymbolUnknown { index: 1 },
        Defect::ThirdParty,
        Defect::Trusting,
        Defect::PublicKeys,
        Defect::VariableInFact,
        Defect::RequestFact { name: "time" },
        Defect::ReservedRule { name: "right" },
        Defect::AmbiguousRule,
        Defect::RecursiveRule,
        Defect::UnboundVariable,
        Defect::MixedTypes,
        Defect::Term { kind: "map" },
        Defect::Set,
        Defect::Date,
        Defect::EmptyCheck,
        Defect::EmptyQuery,
        Defect::Expression,
        Defect::Operator { name: "ffi" },
        Defect::TooDeep { limit: 1 },
        Defect::LazyOverMany,
        Defect::OpenArgument,
        Defect::TooManyMatches { limit: 1 },
        Defect::TooMuchWork { limit: 1 },
        Defect::HolderRepeated,
        Defect::HolderMalformed,
        Defect::MandateMalformed,
        Defect::SourceMalformed,
    ]
}

fn faults() -> Vec<BiscuitFault> {
    let argument = || "x".to_owned();
    vec![
        BiscuitFault::TooLarge { limit: 1 },
        BiscuitFault::UnknownRoot { id: None },
        BiscuitFault::FormatNotSpoken,
        BiscuitFault::BadSignature { candidates: 1 },
        BiscuitFault::Unreadable,
        BiscuitFault::Expired { ended: UnixTime::EPOCH },
        BiscuitFault::LivesTooLong { ends: UnixTime::EPOCH },
        BiscuitFault::UnboundedExpiry,
        BiscuitFault::NoProject,
        BiscuitFault::TooManyArguments { limit: 1 },
        BiscuitFault::ArgumentNotAnAmount { argument: argument(), fault: AmountError::Negative },
        BiscuitFault::ArgumentTooFine { argument: argument() },
        BiscuitFault::ArgumentNotScalar { argument: argument() },
        BiscuitFault::CheckFailed { block: 0, check: 0 },
        BiscuitFault::NotGranted,
        BiscuitFault::NotEvaluable,
        BiscuitFault::EngineLimit,
        BiscuitFault::EngineBusy,
        BiscuitFault::EnginePanicked,
    ]
}

pub(super) fn all() -> Vec<Refusal> {
    let structure = |defect| BiscuitFault::Structure { place: Place::Envelope, defect };
    faults().into_iter().chain(defects().into_iter().map(structure)).map(Refusal::Biscuit).collect()
}
