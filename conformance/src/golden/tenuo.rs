//! Tenuo stacks, made by hand: two warrants of the exported shape, and warrants of any bytes.

use pact_mandate::{PublicKey, SecretKey, Signer, cbor::Writer};
use sha2::{Digest, Sha256};

use super::{Fault, key, mandate::START};

/// The id of the last warrant.
pub const LEAF_ID: [u8; 16] = [0x22; 16];

/// A payload and the key that signs it.
pub struct Link<'a> {
    /// The CBOR map of numbered fields.
    pub payload: &'a [u8],
    /// The parent's holder; the issuer's root key for the first.
    pub signer: &'a SecretKey,
}

/// The payloads of a root that the issuer holds itself and of a leaf for the golden holder.
pub fn payloads() -> Result<[Vec<u8>; 2], Fault> {
    let issuer = key::mandate_key()?;
    let root = payload([0x11; 16], issuer.public_key(), &issuer, None, 2.5)?;
    let leaf = payload(LEAF_ID, key::holder_key()?.public_key(), &issuer, Some(&root), 1.0)?;
    Ok([root, leaf])
}

/// Those two, signed.
pub fn stack() -> Result<Vec<u8>, Fault> {
    let (issuer, [root, leaf]) = (key::mandate_key()?, payloads()?);
    sign(&[Link { payload: &root, signer: &issuer }, Link { payload: &leaf, signer: &issuer }])
}

/// A stack of these payloads, rightly signed whatever they hold.
pub fn sign(links: &[Link<'_>]) -> Result<Vec<u8>, Fault> {
    let mut out = Writer::new();
    out.array(links.len());
    for link in links {
        let message = [b"tenuo-warrant-v1", &[1_u8][..], link.payload].concat();
        out.array(3);
        out.unsigned(1);
        out.bytes(link.payload);
        algorithm(&mut out, link.signer.sign(&message)?.as_bytes());
    }
    Ok(out.into_bytes())
}

fn payload(
    id: [u8; 16],
    holder: &PublicKey,
    issuer: &SecretKey,
    parent: Option<&[u8]>,
    most: f64,
) -> Result<Vec<u8>, Fault> {
    let mut out = Writer::new();
    out.map(if parent.is_some() { 11 } else { 10 });
    out.unsigned(0);
    out.unsigned(1);
    out.unsigned(1);
    out.bytes(&id);
    out.unsigned(2);
    out.unsigned(0);
    out.unsigned(3);
    tools(&mut out, most)?;
    out.unsigned(4);
    algorithm(&mut out, holder.as_bytes());
    out.unsigned(5);
    algorithm(&mut out, issuer.public_key().as_bytes());
    out.unsigned(6);
    out.unsigned(START);
    out.unsigned(7);
    out.unsigned(START + 3600);
    out.unsigned(8);
    out.unsigned(if parent.is_some() { 1 } else { 64 });
    if let Some(parent) = parent {
        out.unsigned(9);
        // A list of numbers, not a byte string.
        out.array(32);
        for byte in Sha256::digest(parent) {
            out.unsigned(u64::from(byte));
        }
    }
    out.unsigned(18);
    out.unsigned(u64::from(parent.is_some()));
    Ok(out.into_bytes())
}

/// `task.read` in the project `web`, of any task, at a cost of at most `most`.
fn tools(out: &mut Writer, most: f64) -> Result<(), Fault> {
    out.map(1);
    out.text("task.read");
    out.map(1);
    out.text("constraints");
    out.map(3);
    out.text("cost_usd");
    out.array(2);
    out.unsigned(3);
    out.map(4);
    out.text("min");
    out.null();
    out.text("max");
    out.float(most)?;
    for name in ["min_inclusive", "max_inclusive"] {
        out.text(name);
        out.bool(true);
    }
    out.text("project");
    out.array(2);
    out.unsigned(1);
    out.map(1);
    out.text("value");
    out.text("web");
    out.text("task_id");
    out.array(2);
    out.unsigned(16);
    out.null();
    Ok(())
}

fn algorithm(out: &mut Writer, bytes: &[u8]) {
    out.array(2);
    out.unsigned(1);
    out.bytes(bytes);
}
