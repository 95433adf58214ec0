//! What the last warrant can have against a call.

/// Why the last warrant does not allow a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// An issuer warrant executes nothing.
    #[error("it is an issuer warrant, which executes nothing")]
    NotExecutable,
    /// Somebody would have to approve, and no approval is judged here.
    #[error("it requires approvals, which this verifier does not take")]
    ApprovalRequired,
    /// The tool is not granted.
    #[error("it does not grant {0:?}")]
    ToolNotGranted(String),
    /// `*` does not stand for a tool that an ancestor restricts.
    #[error("an ancestor restricts {0:?}, so that its `*` does not stand for it")]
    ToolRestricted(String),
    /// An argument that the tool's constraints do not name.
    #[error("the argument {0:?} is not among those it names")]
    ArgumentNotNamed(String),
    /// A named argument is missing.
    #[error("the argument {0:?} is missing")]
    ArgumentMissing(String),
    /// A value outside the constraint.
    #[error("the argument {0:?} is outside its constraint")]
    OutsideConstraint(String),
    /// A number that is no shortest decimal of a double and no 64-bit integer.
    #[error("the argument {0:?} holds a number with more digits than a limit can be compared with")]
    InexactNumber(String),
    /// A constraint of a kind that is not evaluated here.
    #[error(
        "the argument {argument:?} is under a constraint of the kind {kind}, which this verifier does not evaluate"
    )]
    UnjudgedConstraint {
        /// The argument.
        argument: String,
        /// The kind.
        kind: &'static str,
    },
    /// A value of which the constraint cannot say yes or no.
    #[error("the argument {argument:?} is not {wanted}, without which its constraint cannot be judged")]
    UnjudgedValue {
        /// The argument.
        argument: String,
        /// What it would have to be.
        wanted: &'static str,
    },
}

impl CallFault {
    pub(super) fn code(&self) -> &'static str {
        match self {
            CallFault::NotExecutable => "tenuo_not_executable",
            CallFault::ApprovalRequired => "tenuo_approval_required",
            CallFault::ToolNotGranted(_) => "tenuo_tool_not_granted",
            CallFault::ToolRestricted(_) => "tenuo_tool_restricted",
            CallFault::ArgumentNotNamed(_) => "tenuo_argument_not_named",
            CallFault::ArgumentMissing(_) => "tenuo_argument_missing",
            CallFault::OutsideConstraint(_) => "tenuo_outside_constraint",
            CallFault::InexactNumber(_) => "tenuo_inexact_number",
            CallFault::UnjudgedConstraint { .. } => "tenuo_unjudged_constraint",
            CallFault::UnjudgedValue { .. } => "tenuo_unjudged_value",
        }
    }
}
