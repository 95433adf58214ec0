//! Terms: what predicates and expressions are made of.

use pact_mandate::UnixTime;

use super::{Defect, Symbols, push};
use crate::{
    format::biscuit::wire::{Field, Fields},
    limits::{MAX_MEMBERS, MAX_TEXT_BYTES},
};

/// A term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::format::biscuit) enum Term<'a> {
    Variable(u32),
    Integer(i64),
    Text(&'a str),
    Date(UnixTime),
    Bytes(&'a [u8]),
    Bool(bool),
    /// Members of one type, each once.
    Set(Vec<Term<'a>>),
    /// Members of any types.
    Array(Vec<Term<'a>>),
}

/// The type of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format::biscuit) enum Type {
    Variable,
    Integer,
    Text,
    Date,
    Bytes,
    Bool,
    Set,
    Array,
}

impl Term<'_> {
    pub(in crate::format::biscuit) fn type_of(&self) -> Type {
        match self {
            Term::Variable(_) => Type::Variable,
            Term::Integer(_) => Type::Integer,
            Term::Text(_) => Type::Text,
            Term::Date(_) => Type::Date,
            Term::Bytes(_) => Type::Bytes,
            Term::Bool(_) => Type::Bool,
            Term::Set(_) => Type::Set,
            Term::Array(_) => Type::Array,
        }
    }

    /// How many terms it is made of.
    pub(in crate::format::biscuit) fn weight(&self) -> usize {
        match self {
            Term::Set(members) | Term::Array(members) => members.len().saturating_add(1),
            _ => 1,
        }
    }
}

/// Reads one term.
pub(super) fn read<'a>(mut fields: Fields<'a>, symbols: &Symbols<'a>) -> Result<Term<'a>, Defect> {
    let field = fields.next()?.ok_or(Defect::Missing { what: "a term's content" })?;
    let term = match field.number {
        7 => Term::Set(set(field.message()?, symbols)?),
        9 => Term::Array(members(field.message()?, symbols)?),
        _ => scalar(&field, symbols)?,
    };
    match fields.next()? {
        None => Ok(term),
        Some(_) => Err(Defect::Encoding),
    }
}

fn scalar<'a>(field: &Field<'a>, symbols: &Symbols<'a>) -> Result<Term<'a>, Defect> {
    Ok(match field.number {
        1 => Term::Variable(variable(field, symbols)?),
        2 => Term::Integer(field.i64()?),
        3 => Term::Text(symbols.word(field.u64()?)?),
        4 => Term::Date(UnixTime::try_from(field.u64()?).map_err(|_| Defect::Date)?),
        5 => Term::Bytes(bytes(field)?),
        6 => Term::Bool(field.bool()?),
        7 => return Err(Defect::Term { kind: "nested set" }),
        8 => return Err(Defect::Term { kind: "null" }),
        9 => return Err(Defect::Term { kind: "nested array" }),
        10 => return Err(Defect::Term { kind: "map" }),
        _ => return Err(field.unknown()),
    })
}

/// Variables are named by words as well.
pub(super) fn variable(field: &Field<'_>, symbols: &Symbols<'_>) -> Result<u32, Defect> {
    let variable = field.u32()?;
    symbols.word(u64::from(variable))?;
    Ok(variable)
}

fn bytes<'a>(field: &Field<'a>) -> Result<&'a [u8], Defect> {
    let bytes = field.bytes()?;
    if bytes.len() > MAX_TEXT_BYTES { Err(Defect::TextTooLong { limit: MAX_TEXT_BYTES }) } else { Ok(bytes) }
}

fn members<'a>(mut fields: Fields<'a>, symbols: &Symbols<'a>) -> Result<Vec<Term<'a>>, Defect> {
    let mut members = Vec::new();
    while let Some(field) = fields.next()? {
        if field.number != 1 {
            return Err(field.unknown());
        }
        let mut content = field.message()?;
        let field = content.next()?.ok_or(Defect::Missing { what: "a member's content" })?;
        let member = scalar(&field, symbols)?;
        if content.next()?.is_some() {
            return Err(Defect::Encoding);
        }
        if member.type_of() == Type::Variable {
            return Err(Defect::Term { kind: "variable" });
        }
        push(&mut members, member, MAX_MEMBERS, "members of a set")?;
    }
    Ok(members)
}

fn set<'a>(fields: Fields<'a>, symbols: &Symbols<'a>) -> Result<Vec<Term<'a>>, Defect> {
    let members = members(fields, symbols)?;
    let mut sorted: Vec<&Term<'_>> = members.iter().collect();
    sorted.sort_unstable();
    let fault = sorted.windows(2).any(|pair| match pair {
        [a, b] => a == b || a.type_of() != b.type_of(),
        _ => false,
    });
    if fault { Err(Defect::Set) } else { Ok(members) }
}
