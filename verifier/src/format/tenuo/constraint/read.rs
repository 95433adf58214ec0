//! Reading constraints: `[type, content]`, each content in the one form in which it is written.

use pact_mandate::cbor::Reader;

use super::{Constraint, Opaque, opaque};
use crate::{
    format::tenuo::{
        fault::{FormFault, Misformed},
        fields::Fields,
        glob::{Glob, Parsed},
        network::Network,
        range::Range,
        subpath::Subpath,
        value::Value,
    },
    limits::{MAX_CONSTRAINT_BYTES, MAX_CONSTRAINT_DEPTH},
};

impl Constraint {
    /// Reads one constraint with all that it holds.
    pub(in crate::format::tenuo) fn read(reader: &mut Reader<'_>) -> Result<Constraint, FormFault> {
        let start = reader.position();
        let constraint = read_nested(reader, 1)?;
        if reader.position() - start > MAX_CONSTRAINT_BYTES {
            return Err(FormFault::ConstraintTooLarge);
        }
        Ok(constraint)
    }
}

fn read_nested(reader: &mut Reader<'_>, depth: usize) -> Result<Constraint, FormFault> {
    if depth > MAX_CONSTRAINT_DEPTH {
        return Err(FormFault::ConstraintTooDeep);
    }
    reader.tuple(2, |reader| {
        let id = reader.unsigned_as()?;
        match id {
            1 => one(reader, "value", Value::read).map(Constraint::Exact),
            2 => read_pattern(reader),
            3 => Range::read(reader).map(Constraint::Range),
            4 => one(reader, "values", Value::read_many).map(Constraint::OneOf),
            7 => one(reader, "excluded", Value::read_many).map(Constraint::NotOneOf),
            8 => read_network(reader),
            10 => one(reader, "required", Value::read_many).map(Constraint::Contains),
            11 => one(reader, "allowed", Value::read_many).map(Constraint::Subset),
            12 => read_all(reader, depth),
            13 => read_list(reader, depth).map(Constraint::Any),
            14 => one(reader, "constraint", |reader| read_nested(reader, depth + 1))
                .map(|inner| Constraint::Not(Box::new(inner))),
            16 => Ok(reader.null().map(|()| Constraint::Wildcard)?),
            17 => Subpath::read(reader).map(Constraint::Subpath),
            _ => opaque::read(reader, id).map(Constraint::Opaque),
        }
    })
}

/// A map of one member.
fn one<'a, T, E>(
    reader: &mut Reader<'a>,
    name: &'static str,
    value: impl FnOnce(&mut Reader<'a>) -> Result<T, E>,
) -> Result<T, FormFault>
where
    FormFault: From<E>,
{
    Fields::read(reader, 1, |fields| fields.next(name, value))
}

fn read_pattern(reader: &mut Reader<'_>) -> Result<Constraint, FormFault> {
    let start = reader.position();
    let text = one(reader, "pattern", Reader::text)?;
    match Glob::parse(text) {
        Parsed::Glob(glob) => Ok(Constraint::Pattern(glob)),
        Parsed::Malformed => Err(Misformed::Pattern.into()),
        Parsed::Recursive => Ok(Constraint::Opaque(Opaque {
            kind: "Pattern with **",
            id: 2,
            content: reader.since(start).into(),
        })),
    }
}

fn read_network(reader: &mut Reader<'_>) -> Result<Constraint, FormFault> {
    let network = Network::parse(reader.text()?).ok_or(Misformed::Network)?;
    Ok(Constraint::Cidr(network))
}

/// An empty conjunction would admit everything while it looks like a limit, so there is none.
fn read_all(reader: &mut Reader<'_>, depth: usize) -> Result<Constraint, FormFault> {
    let all = read_list(reader, depth)?;
    if all.is_empty() { Err(Misformed::EmptyAll.into()) } else { Ok(Constraint::All(all)) }
}

fn read_list(reader: &mut Reader<'_>, depth: usize) -> Result<Vec<Constraint>, FormFault> {
    one(reader, "constraints", |reader| {
        reader.array(|reader, count| (0..count).map(|_| read_nested(reader, depth + 1)).collect())
    })
}
