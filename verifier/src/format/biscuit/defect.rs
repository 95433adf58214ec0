//! What can be wrong with a token's structure, each with its code.

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
