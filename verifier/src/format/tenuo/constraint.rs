//! Constraints on one argument: what each kind admits, and which narrow which.

use super::{glob::Glob, network::Network, range::Range, subpath::Subpath, value::Value};

mod judge;
mod narrow;
mod opaque;
mod read;
#[cfg(test)]
mod tests;

pub(super) use judge::Unjudged;

/// A constraint.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constraint {
    /// Any value.
    Wildcard,
    /// This value.
    Exact(Value),
    /// Texts of this form.
    Pattern(Glob),
    /// Numbers from here to there.
    Range(Range),
    /// One of these values.
    OneOf(Vec<Value>),
    /// None of these values.
    NotOneOf(Vec<Value>),
    /// Addresses of this network.
    Cidr(Network),
    /// Lists that hold all of these.
    Contains(Vec<Value>),
    /// Lists that hold nothing but these.
    Subset(Vec<Value>),
    /// Paths under this root.
    Subpath(Subpath),
    /// All at once; never empty.
    All(Vec<Constraint>),
    /// At least one.
    Any(Vec<Constraint>),
    /// Not this.
    Not(Box<Constraint>),
    /// Of a kind that is not evaluated here: it admits nothing, and narrows to itself alone.
    Opaque(Opaque),
}

/// A constraint that is kept only to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opaque {
    /// What kind of constraint.
    kind: &'static str,
    /// Its type number.
    id: u8,
    /// Its content as encoded, of which there is one form.
    content: Box<[u8]>,
}
