//! Every way in which a stack of warrants is refused.

use pact_mandate::cbor::CborError;

use crate::{
    limits::{MAX_STACK_BYTES, MAX_WARRANTS},
    refusal::Class,
};

mod call;
mod form;
mod link;

pub use call::CallFault;
pub use form::{FormFault, Misformed};
pub use link::LinkFault;

/// Why a stack, or a call under it, is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenuoFault {
    /// The stack as a whole.
    #[error("the warrant stack: {0}")]
    Stack(#[from] StackFault),
    /// One of its warrants by itself.
    #[error("warrant {link} of the stack (the root is 0): {fault}")]
    Form {
        /// Which, counted from the root as 0.
        link: usize,
        /// What is wrong with it.
        fault: FormFault,
    },
    /// One of its warrants where it stands.
    #[error("warrant {link} of the stack (the root is 0): {fault}")]
    Link {
        /// Which, counted from the root as 0.
        link: usize,
        /// What is wrong with it.
        fault: LinkFault,
    },
    /// The call that the last warrant would have to allow.
    #[error("the last warrant does not allow the call: {0}")]
    Call(#[from] CallFault),
}

/// What is wrong with a stack as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StackFault {
    /// More bytes than the bound.
    #[error("it has {0} bytes, {MAX_STACK_BYTES} are the most")]
    TooLarge(usize),
    /// More warrants than Tenuo's cap on depth.
    #[error("it has {0} warrants, {MAX_WARRANTS} are the most")]
    TooDeep(usize),
    /// No warrant.
    #[error("it holds no warrant")]
    Empty,
    /// Not a CBOR array of warrants.
    #[error("it is not a CBOR array of warrants: {0}")]
    Encoding(#[from] CborError),
}

impl TenuoFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            TenuoFault::Stack(fault) => fault.code(),
            TenuoFault::Form { fault, .. } => fault.code(),
            TenuoFault::Link { fault, .. } => fault.code(),
            TenuoFault::Call(fault) => fault.code(),
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            TenuoFault::Stack(_) | TenuoFault::Form { .. } => Class::Malformed,
            TenuoFault::Link { .. } => Class::Unauthenticated,
            TenuoFault::Call(_) => Class::Forbidden,
        }
    }

    /// The warrant at fault, counted from the root as 0.
    pub fn link(&self) -> Option<usize> {
        match self {
            TenuoFault::Form { link, .. } | TenuoFault::Link { link, .. } => Some(*link),
            TenuoFault::Stack(_) | TenuoFault::Call(_) => None,
        }
    }
}

impl StackFault {
    fn code(self) -> &'static str {
        match self {
            StackFault::TooLarge(_) => "tenuo_stack_too_large",
            StackFault::TooDeep(_) => "tenuo_stack_too_deep",
            StackFault::Empty => "tenuo_stack_empty",
            StackFault::Encoding(_) => "tenuo_stack_malformed",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_code_stands_once() {
        let sources = [
            include_str!("fault.rs"),
            include_str!("fault/call.rs"),
            include_str!("fault/form.rs"),
            include_str!("fault/link.rs"),
            include_str!("../../proof/tenuo.rs"),
        ];
        let mut seen = BTreeSet::new();
        for line in sources.iter().flat_map(|source| source.lines()) {
            if let Some((_, code)) = line.split_once(" => \"tenuo_") {
                assert!(seen.insert(code), "{code}");
            }
        }
        assert!(seen.len() > 60, "{}", seen.len());
    }
}
