//! Every way in which a Biscuit is refused, each with its place and its code.

use std::fmt;

use pact_mandate::{UnixTime, amount::AmountError};

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
    /// Not the text form.
    #[error("the token's text is not URL-safe base64")]
    NotBase64,
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

/// What is wrong with a token's structure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Ends too early.
    #[error("it ends too early")]
    Truncated,
    /// Another encoding than the one: fields out of order or repeated, integers longer than needed.
    #[error("it is not in the one encoding (fields in order, single ones once, shortest integers)")]
    Encoding,
    /// A field that the published schema does not have.
    #[error("it has a field {number} that the schema does not have there")]
    UnknownField {
        /// Its number.
        number: u64,
    },
    /// A value that the schema does not have, of an enumeration or a version.
    #[error("{what} is {value}, which the schema does not have")]
    UnknownValue {
        /// Of what.
        what: &'static str,
        /// The value.
        value: u64,
    },
    /// A required field is not there.
    #[error("{what} is missing")]
    Missing {
        /// Which.
        what: &'static str,
    },
    /// Text that is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// Text with control characters.
    #[error("a text has control characters")]
    ControlCharacter,
    /// Text longer than the bound.
    #[error("a text is longer than {limit} bytes")]
    TextTooLong {
        /// The bound.
        limit: usize,
    },
    /// More of something than the bound.
    #[error("there are more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// A version outside 3 to 6.
    #[error("the block's version is {found}; 3 to 6 are read")]
    Version {
        /// The version; 0 when there is none.
        found: u32,
    },
    /// Something that the block's declared version does not have.
    #[error("it uses what only version {needed} has, but the block says {declared}")]
    NewerThanVersion {
        /// The version that it needs.
        needed: u32,
        /// The version of the block.
        declared: u32,
    },
    /// A word that the tables have already.
    #[error("the symbol table repeats a word")]
    SymbolRepeated,
    /// A word that no table has.
    #[error("word {index} is in no symbol table")]
    SymbolUnknown {
        /// Its index.
        index: u64,
    },
    /// A block signed by somebody else as well.
    #[error("third-party blocks are not accepted")]
    ThirdParty,
    /// A scope annotation, at block, rule or check level.
    #[error("`trusting` is not accepted")]
    Trusting,
    /// A table of public keys, which only `trusting` would use.
    #[error("a table of public keys is not accepted")]
    PublicKeys,
    /// A variable in a fact.
    #[error("a fact has a variable")]
    VariableInFact,
    /// A fact that only the verifier may state about a request.
    #[error("only the verifier states `{name}` facts")]
    RequestFact {
        /// Its name.
        name: &'static str,
    },
    /// A rule that makes facts which only a verifier or an issuer may state.
    #[error("a rule may not make `{name}` facts")]
    ReservedRule {
        /// Its head.
        name: &'static str,
    },
    /// A rule whose head is also stated or made elsewhere.
    #[error("the rule's head is also the name of a fact or of another rule")]
    AmbiguousRule,
    /// Rules that depend on each other in a circle.
    #[error("rules depend on themselves")]
    RecursiveRule,
    /// A variable that nothing binds.
    #[error("a variable is bound by nothing")]
    UnboundVariable,
    /// Facts of one name with terms of different types: whether a check on them passes would be a matter of chance.
    #[error("facts of this name have terms of different types")]
    MixedTypes,
    /// A kind of term that is not accepted.
    #[error("{kind} terms are not accepted here")]
    Term {
        /// Which.
        kind: &'static str,
    },
    /// A set with members of different types, or one member twice.
    #[error("a set has members of different types, or one twice")]
    Set,
    /// A date after the year 9999.
    #[error("a date lies after the year 9999")]
    Date,
    /// A check without alternatives.
    #[error("a check has no query")]
    EmptyCheck,
    /// A query without anything to match.
    #[error("a query has neither a predicate nor an expression")]
    EmptyQuery,
    /// An expression without operations, or one that does not leave exactly one value.
    #[error("an expression does not yield exactly one value")]
    Expression,
    /// An operator that is not accepted.
    #[error("the operator {name} is not accepted")]
    Operator {
        /// Its name.
        name: &'static str,
    },
    /// Closures nested too deep.
    #[error("closures are nested deeper than {limit}")]
    TooDeep {
        /// The bound.
        limit: usize,
    },
    /// A lazy operator over more than one combination of facts: an error in one of them would count or not by chance.
    #[error("a lazy operator stands over more than one combination of facts")]
    LazyOverMany,
    /// A value of `arg($k, $v)` that is used although its argument is not named.
    #[error("the value of an unnamed argument is used")]
    OpenArgument,
    /// More combinations of facts than the bound.
    #[error("a query may match in more than {limit} ways")]
    TooManyMatches {
        /// The bound.
        limit: usize,
    },
    /// More steps of evaluation than the bound.
    #[error("evaluating the token may take more than {limit} steps")]
    TooMuchWork {
        /// The bound.
        limit: usize,
    },
    /// A second `holder` fact (protocol C3).
    #[error("the token names a holder twice")]
    HolderRepeated,
    /// A `holder` fact that is no key.
    #[error("the `holder` fact is not one Ed25519 key in base64url")]
    HolderMalformed,
    /// A `mandate` fact that is no mandate's id.
    #[error("the `mandate` fact is not one UUID in lower case")]
    MandateMalformed,
    /// A `source` fact that is no issuer, a second one, or one outside the authority block (protocol C6).
    #[error("a `source` fact is not one issuer's name, said once, in the authority block")]
    SourceMalformed,
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
            BiscuitFault::NotBase64 => "biscuit_not_base64",
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
            BiscuitFault::TooLarge { .. } | BiscuitFault::NotBase64 | BiscuitFault::Structure { .. } => {
                Class::Malformed
            }
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

impl Defect {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Defect::Truncated => "biscuit_truncated",
            Defect::Encoding => "biscuit_encoding",
            Defect::UnknownField { .. } => "biscuit_unknown_field",
            Defect::UnknownValue { .. } => "biscuit_unknown_value",
            Defect::Missing { .. } => "biscuit_missing_field",
            Defect::NotText => "biscuit_not_text",
            Defect::ControlCharacter => "biscuit_control_character",
            Defect::TextTooLong { .. } => "biscuit_text_too_long",
            Defect::TooMany { .. } => "biscuit_too_many",
            Defect::Version { .. } => "biscuit_version",
            Defect::NewerThanVersion { .. } => "biscuit_newer_than_version",
            Defect::SymbolRepeated => "biscuit_symbol_repeated",
            Defect::SymbolUnknown { .. } => "biscuit_symbol_unknown",
            Defect::ThirdParty => "biscuit_third_party",
            Defect::Trusting => "biscuit_trusting",
            Defect::PublicKeys => "biscuit_public_keys",
            Defect::VariableInFact => "biscuit_variable_in_fact",
            Defect::RequestFact { .. } => "biscuit_request_fact",
            Defect::ReservedRule { .. } => "biscuit_reserved_rule",
            Defect::AmbiguousRule => "biscuit_ambiguous_rule",
            Defect::RecursiveRule => "biscuit_recursive_rule",
            Defect::UnboundVariable => "biscuit_unbound_variable",
            Defect::MixedTypes => "biscuit_mixed_types",
            Defect::Term { .. } => "biscuit_term",
            Defect::Set => "biscuit_set",
            Defect::Date => "biscuit_date",
            Defect::EmptyCheck => "biscuit_empty_check",
            Defect::EmptyQuery => "biscuit_empty_query",
            Defect::Expression => "biscuit_expression",
            Defect::Operator { .. } => "biscuit_operator",
            Defect::TooDeep { .. } => "biscuit_too_deep",
            Defect::LazyOverMany => "biscuit_lazy_over_many",
            Defect::OpenArgument => "biscuit_open_argument",
            Defect::TooManyMatches { .. } => "biscuit_too_many_matches",
            Defect::TooMuchWork { .. } => "biscuit_too_much_work",
            Defect::HolderRepeated => "biscuit_holder_repeated",
            Defect::HolderMalformed => "biscuit_holder_malformed",
            Defect::MandateMalformed => "biscuit_mandate_malformed",
            Defect::SourceMalformed => "biscuit_source_malformed",
        }
    }
}
