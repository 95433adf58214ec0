//! Why a policy file, or a call under it, is refused.

use pact_mandate::canonical::CanonicalError;

use crate::{refusal::Class, strict::ConfigFault};

/// Why a policy file is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Keys and values.
    #[error(transparent)]
    Config(#[from] ConfigFault),
    /// A number that JSON does not keep.
    #[error(transparent)]
    Number(#[from] CanonicalError),
    /// A raw argument that would be judged and not.
    #[error("the tool {tool} judges its argument {argument} and lets it pass unjudged: choose one")]
    JudgedAndUnjudged {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
    /// A policy under which no call could pass.
    #[error("the policy maps no tool: add [tools.NAME], or identity = true")]
    NothingMapped,
}

/// Why the policy does not take a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// A tool that is not named.
    #[error("the tool {0} is not mapped by the policy")]
    ToolNotMapped(String),
    /// An argument that is not named.
    #[error("the argument {0} is not named by the policy of this tool")]
    ArgumentNotNamed(String),
    /// P2: a name that belongs to proofs.
    #[error("the argument {0} begins with '@', which only the members of a proof do")]
    ReservedArgument(String),
    /// Arguments of another kind.
    #[error("the arguments are not an object")]
    ArgumentsNotAnObject,
    /// A judged call that did not come from this policy.
    #[error("the call was not judged by the policy that is in force: judge it again")]
    JudgedOtherwise,
}

impl PolicyFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            PolicyFault::ToolNotMapped(_) => "tool_not_mapped",
            PolicyFault::ArgumentNotNamed(_) => "argument_not_named",
            PolicyFault::ReservedArgument(_) => "argument_reserved",
            PolicyFault::ArgumentsNotAnObject => "arguments_not_object",
            PolicyFault::JudgedOtherwise => "judged_otherwise",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            PolicyFault::ToolNotMapped(_) | PolicyFault::ArgumentNotNamed(_) => Class::Forbidden,
            PolicyFault::ReservedArgument(_) | PolicyFault::ArgumentsNotAnObject => Class::Malformed,
            PolicyFault::JudgedOtherwise => Class::Unavailable,
        }
    }
}

/// Enough of a caller's name to find it by, whatever its length.
pub(super) fn shortened(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(64).collect()
}
