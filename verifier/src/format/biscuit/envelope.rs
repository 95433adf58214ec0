//! The outside of a token: signed blocks, their keys, the proof at the end.

use super::{
    defect::Defect,
    fault::{BiscuitFault, Place},
    wire::{Field, Fields},
};
use crate::limits::{MAX_BLOCKS, MAX_TOKEN_BYTES};

/// The longest DER form of a P-256 signature.
const MAX_DER_BYTES: usize = 72;

/// A token's outside.
#[derive(Debug)]
pub(super) struct Envelope<'a> {
    /// Which root key signed; a hint, because it is not signed.
    pub(super) root_key_id: Option<u32>,
    /// The blocks, the authority first.
    pub(super) links: Vec<Link<'a>>,
}

/// A signed block.
#[derive(Debug)]
pub(super) struct Link<'a> {
    /// The bytes that are signed.
    pub(super) block: &'a [u8],
    /// What kind of key signs the block after it.
    pub(super) next: Algorithm,
    /// The signature as it came.
    pub(super) signature: &'a [u8],
}

/// The kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Ed25519,
    P256,
}

/// Reads the outside.
pub(super) fn read(token: &[u8]) -> Result<Envelope<'_>, BiscuitFault> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(BiscuitFault::TooLarge { limit: MAX_TOKEN_BYTES });
    }
    fields(token).map_err(|defect| Place::Envelope.refuse(defect))
}

fn fields(token: &[u8]) -> Result<Envelope<'_>, Defect> {
    let mut fields = Fields::of(token);
    let (mut root_key_id, mut authority, mut blocks, mut proven) = (None, None, Vec::new(), false);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => root_key_id = Some(field.single()?.u32()?),
            2 => authority = Some(link(&field.single()?)?),
            // The bound counts the authority block as well.
            3 if blocks.len() + 1 >= MAX_BLOCKS => {
                return Err(Defect::TooMany { what: "blocks", limit: MAX_BLOCKS });
            }
            3 => blocks.push(link(&field)?),
            4 => proven = proof(&field.single()?)?,
            _ => return Err(field.unknown()),
        }
    }
    if !proven {
        return Err(Defect::Missing { what: "the proof" });
    }
    let authority = authority.ok_or(Defect::Missing { what: "the authority block" })?;
    let mut links = vec![authority];
    links.append(&mut blocks);
    Ok(Envelope { root_key_id, links })
}

fn link<'a>(field: &Field<'a>) -> Result<Link<'a>, Defect> {
    let mut fields = field.message()?;
    let (mut block, mut next, mut signature) = (None, None, None);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => block = Some(field.single()?.bytes()?),
            2 => next = Some(public_key(&field.single()?)?),
            3 => signature = Some(field.single()?.bytes()?),
            4 => return Err(Defect::ThirdParty),
            5 => match field.single()?.u64()? {
                0 | 1 => {}
                value => return Err(Defect::UnknownValue { what: "a signature's version", value }),
            },
            _ => return Err(field.unknown()),
        }
    }
    let signature = signature.ok_or(Defect::Missing { what: "a signature" })?;
    if signature.len() > MAX_DER_BYTES {
        return Err(Defect::TextTooLong { limit: MAX_DER_BYTES });
    }
    Ok(Link {
        block: block.ok_or(Defect::Missing { what: "a block" })?,
        next: next.ok_or(Defect::Missing { what: "a next key" })?,
        signature,
    })
}

fn public_key(field: &Field<'_>) -> Result<Algorithm, Defect> {
    let mut fields = field.message()?;
    let (mut algorithm, mut length) = (None, None);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => {
                algorithm = Some(match field.single()?.u64()? {
                    0 => Algorithm::Ed25519,
                    1 => Algorithm::P256,
                    value => return Err(Defect::UnknownValue { what: "a key's algorithm", value }),
                });
            }
            2 => length = Some(field.single()?.bytes()?.len()),
            _ => return Err(field.unknown()),
        }
    }
    let algorithm = algorithm.ok_or(Defect::Missing { what: "a key's algorithm" })?;
    let wanted = match algorithm {
        Algorithm::Ed25519 => 32,
        Algorithm::P256 => 33,
    };
    match length {
        None => Err(Defect::Missing { what: "a key" }),
        Some(length) if length != wanted => Err(Defect::Encoding),
        Some(_) => Ok(algorithm),
    }
}

fn proof(field: &Field<'_>) -> Result<bool, Defect> {
    let mut fields = field.message()?;
    let content = fields.next()?.ok_or(Defect::Missing { what: "the proof's content" })?;
    match content.number {
        1 | 2 => content.bytes()?,
        _ => return Err(content.unknown()),
    };
    match fields.next()? {
        None => Ok(true),
        Some(_) => Err(Defect::Encoding),
    }
}
