//! What one warrant can have wrong by itself.

use pact_mandate::{cbor::CborError, key::KeyError};

use crate::limits::{MAX_CONSTRAINT_BYTES, MAX_CONSTRAINT_DEPTH, MAX_WARRANT_BYTES};

/// What is wrong with one warrant, whoever signed it and wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormFault {
    /// More bytes than the bound.
    #[error("it has {0} bytes, {MAX_WARRANT_BYTES} are the most")]
    TooLarge(usize),
    /// Not the one encoding of a warrant.
    #[error("it is not in the one encoding of a warrant: {0}")]
    Encoding(#[from] CborError),
    /// Keys that do not ascend, or come twice.
    #[error("its keys do not ascend, or one comes twice (at byte {at})")]
    KeyOrder {
        /// Where.
        at: usize,
    },
    /// A version of the envelope or payload other than 1.
    #[error("it is of version {0}; this verifier knows version 1")]
    UnknownVersion(u64),
    /// A signature or key of another algorithm than Ed25519.
    #[error("it uses algorithm {0}; only 1, Ed25519, is accepted")]
    UnknownAlgorithm(u64),
    /// A type other than execution and issuer.
    #[error("it is of type {0}; only 0 (execution) and 1 (issuer) exist")]
    UnknownType(u64),
    /// A field that this version does not have.
    #[error("it has the unknown field {0}")]
    UnknownField(u64),
    /// A field that every warrant has.
    #[error("it lacks field {0}")]
    MissingField(u64),
    /// A field that a warrant of its type must not have.
    #[error("a warrant of its type has no field {0}")]
    MisplacedField(u64),
    /// More entries than the bound.
    #[error("it has {found} {what}, {most} are the most")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// The bound.
        most: usize,
    },
    /// Longer than the bound.
    #[error("{what} has {found} bytes, {most} are the most")]
    TooLong {
        /// What.
        what: &'static str,
        /// How many.
        found: usize,
        /// The bound.
        most: usize,
    },
    /// Bytes that are no key, or a weak one (protocol K5).
    #[error(transparent)]
    BadKey(#[from] KeyError),
    /// A constraint whose content is not one.
    #[error("it has a constraint that is none: {0}")]
    Misformed(#[from] Misformed),
    /// A constraint of more than the bytes allowed.
    #[error("it has a constraint of more than {MAX_CONSTRAINT_BYTES} bytes")]
    ConstraintTooLarge,
    /// Constraints within constraints, past the bound.
    #[error("it has constraints nested deeper than {MAX_CONSTRAINT_DEPTH}")]
    ConstraintTooDeep,
    /// A name that Tenuo keeps for itself.
    #[error("the tool name {0:?} is reserved")]
    ReservedTool(String),
    /// An extension that may restrict the warrant in a way not known here.
    #[error("the extension {0:?} is not known")]
    UnknownExtension(String),
    /// An extension whose bytes are not what its name promises.
    #[error("the extension {0} is malformed")]
    BadExtension(&'static str),
    /// Approvals that cannot be counted.
    #[error("it wants {wanted} approvals of {approvers} approvers")]
    BadThreshold {
        /// How many.
        wanted: u32,
        /// By how many distinct keys.
        approvers: usize,
    },
    /// An issuer warrant that may issue nothing.
    #[error("an issuer warrant names at least one tool it may issue")]
    NothingToIssue,
    /// Issues deeper than the warrant itself allows.
    #[error("it would issue deeper than its own maximum of {most}")]
    IssuesTooDeep {
        /// Its maximum depth.
        most: u8,
    },
}

/// A constraint whose content is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misformed {
    /// Not a glob pattern.
    #[error("a pattern with a bracket without its end, or three stars in a row")]
    Pattern,
    /// Not a network.
    #[error("a network that is not address/prefix")]
    Network,
    /// Not a plainly spelled root.
    #[error("a root that is not a plainly spelled absolute path")]
    SubpathRoot,
    /// Not a URL pattern.
    #[error("a URL pattern that is not scheme://host[:port][/path]")]
    UrlPattern,
    /// Not a domain pattern.
    #[error("a domain pattern that is not a host or *.host")]
    Domain,
    /// A conjunction of nothing, which would admit everything.
    #[error("an All of nothing")]
    EmptyAll,
}

impl FormFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            FormFault::TooLarge(_) => "tenuo_warrant_too_large",
            FormFault::Encoding(_) => "tenuo_encoding",
            FormFault::KeyOrder { .. } => "tenuo_key_order",
            FormFault::UnknownVersion(_) => "tenuo_unknown_version",
            FormFault::UnknownAlgorithm(_) => "tenuo_unknown_algorithm",
            FormFault::UnknownType(_) => "tenuo_unknown_type",
            FormFault::UnknownField(_) => "tenuo_unknown_field",
            FormFault::MissingField(_) => "tenuo_missing_field",
            FormFault::MisplacedField(_) => "tenuo_misplaced_field",
            FormFault::TooMany { .. } => "tenuo_too_many",
            FormFault::TooLong { .. } => "tenuo_too_long",
            FormFault::BadKey(_) => "tenuo_bad_key",
            FormFault::Misformed(_) => "tenuo_constraint_malformed",
            FormFault::ConstraintTooLarge => "tenuo_constraint_too_large",
            FormFault::ConstraintTooDeep => "tenuo_constraint_too_deep",
            FormFault::ReservedTool(_) => "tenuo_reserved_tool",
            FormFault::UnknownExtension(_) => "tenuo_unknown_extension",
            FormFault::BadExtension(_) => "tenuo_bad_extension",
            FormFault::BadThreshold { .. } => "tenuo_bad_threshold",
            FormFault::NothingToIssue => "tenuo_nothing_to_issue",
            FormFault::IssuesTooDeep { .. } => "tenuo_issues_too_deep",
        }
    }
}
