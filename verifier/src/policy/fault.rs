//! Why a policy file, or a call under it, is refused.

use pact_mandate::canonical::CanonicalError;

use crate::{
    refusal::Class,
    strict::{ConfigFault, Hint},
};

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
    /// A rule of an argument that is not taken at all.
    #[error("the tool {tool} has a rule of its argument {argument}, which it neither judges nor lets pass{hint}", hint = Hint(nearest.as_deref()))]
    RuleOfNothing {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
        /// The one that it takes whose name is nearest, if any is near.
        nearest: Option<String>,
    },
    /// One name for two things.
    #[error("{0} is a tool and a method: a call could not say which of them it is")]
    ToolAndMethod(String),
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
    /// An argument of a tool that is judged by its own name, whose value the file fixes.
    #[error("the argument {0} is fixed by the policy for every call: leave it out")]
    ArgumentFixed(String),
    /// An argument under a rule that was not sent.
    #[error("the argument {0} must be sent, because the policy judges it")]
    ArgumentMissing(String),
    /// A value that a rule does not take.
    #[error("the argument {0} is outside what the policy of this tool takes")]
    ArgumentOutside(String),
    /// A text that the policy's table does not list, or a path below none of its prefixes.
    #[error("the policy of this tool does not know the value of the argument {0}")]
    ValueNotMapped(String),
    /// Arguments that amount to different values.
    #[error(
        "the argument {0} amounts to something else than those before it: ask for each in a call of its own"
    )]
    ArgumentsDiffer(String),
    /// A path that two servers could read in two ways.
    #[error(
        "the argument {0} must be a plain path: no empty, '.' or '..' segment, no backslash, no percent sign"
    )]
    PathNotPlain(String),
    /// A limit of the credential that nothing says anything of.
    #[error("the credential limits {key}, of which the policy says nothing for {tool}: add {line}", line = line(tool, key))]
    LimitUnmapped {
        /// The tool.
        tool: String,
        /// The limit, as the issuer signed it.
        key: String,
    },
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
            PolicyFault::ArgumentFixed(_) => "argument_fixed",
            PolicyFault::ArgumentMissing(_) => "argument_missing",
            PolicyFault::ArgumentOutside(_) => "argument_outside",
            PolicyFault::ValueNotMapped(_) => "value_not_mapped",
            PolicyFault::ArgumentsDiffer(_) => "arguments_differ",
            PolicyFault::PathNotPlain(_) => "path_not_plain",
            PolicyFault::LimitUnmapped { .. } => "limit_unmapped",
            PolicyFault::JudgedOtherwise => "judged_otherwise",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            PolicyFault::ToolNotMapped(_)
            | PolicyFault::ArgumentNotNamed(_)
            | PolicyFault::ArgumentFixed(_)
            | PolicyFault::ArgumentMissing(_)
            | PolicyFault::ArgumentOutside(_)
            | PolicyFault::ValueNotMapped(_)
            | PolicyFault::ArgumentsDiffer(_)
            | PolicyFault::PathNotPlain(_)
            | PolicyFault::LimitUnmapped { .. } => Class::Forbidden,
            PolicyFault::ReservedArgument(_) | PolicyFault::ArgumentsNotAnObject => Class::Malformed,
            PolicyFault::JudgedOtherwise => Class::Unavailable,
        }
    }
}

/// The line that an operator adds to the policy.
fn line(tool: &str, key: &str) -> String {
    match key {
        "task_id" => {
            format!(
                "task_id = \"\" to [limits], where tools know no task, or task_id = {{ arg = … }} to the table of {tool}"
            )
        }
        key => format!("{key} = … to [limits], or {key} = {{ arg = … }} to the args of {tool}"),
    }
}

/// Enough of a caller's name to find it by, whatever its length.
pub(super) fn shortened(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(64).collect()
}
