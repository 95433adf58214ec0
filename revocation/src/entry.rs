//! What a list holds: the first 16 bytes of the SHA-256 of a name (protocol R1).

use std::fmt;

use pact_mandate::{MandateId, hex, key::Thumbprint};
use sha2::{Digest, Sha256};

/// One entry. Two names share an entry with probability 2^-128.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry([u8; 16]);

impl Entry {
    /// A Tenuo warrant, by its 16-byte id: `tenuo:` and 32 lower-case hex digits.
    pub fn of_warrant(id: &[u8; 16]) -> Entry {
        Entry::of_name(b"tenuo:", hex::encode(id).as_bytes())
    }

    /// A Biscuit block, by its signature (for P-256 the low-s r‖s form): `biscuit:` and lower-case hex.
    pub fn of_block(signature: &[u8]) -> Entry {
        Entry::of_name(b"biscuit:", hex::encode(signature).as_bytes())
    }

    /// A mandate: `pact:` and its UUID in lower case.
    pub fn of_mandate(id: MandateId) -> Entry {
        Entry::of_name(b"pact:", id.to_string().as_bytes())
    }

    /// A key, by its RFC 7638 thumbprint: `key:` and base64url.
    pub fn of_key(thumbprint: &Thumbprint) -> Entry {
        Entry::of_name(b"key:", thumbprint.to_string().as_bytes())
    }

    /// An entry as a list's body carries it.
    pub const fn from_bytes(bytes: [u8; 16]) -> Entry {
        Entry(bytes)
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    fn of_name(kind: &[u8], name: &[u8]) -> Entry {
        let digest = Sha256::new().chain_update(kind).chain_update(name).finalize();
        let mut entry = [0; 16];
        entry.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Entry(entry)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", hex::encode(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_the_preimages_are_these() {
        // printf 'tenuo:000102030405060708090a0b0c0d0e0f' | sha256sum
        let id: [u8; 16] = std::array::from_fn(|at| u8::try_from(at).unwrap());
        let digest = Sha256::digest(b"tenuo:000102030405060708090a0b0c0d0e0f");
        assert_eq!(Entry::of_warrant(&id).as_bytes(), &digest[..16]);
        let digest = Sha256::digest(b"biscuit:00ff");
        assert_eq!(Entry::of_block(&[0, 0xff]).as_bytes(), &digest[..16]);
        let mandate = "11111111-1111-4111-8111-11111111111a";
        let digest = Sha256::digest(format!("pact:{mandate}"));
        assert_eq!(Entry::of_mandate(mandate.parse().unwrap()).as_bytes(), &digest[..16]);
    }
}
