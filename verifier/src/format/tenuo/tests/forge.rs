//! Stacks of our own making: every one validly signed, whatever rule it breaks.

use pact_mandate::{SecretKey, Signer, cbor::Writer};
use sha2::{Digest, Sha256};

pub(super) const NOW: u64 = 1_704_067_500;

/// The key whose seed is this byte, 32 times.
pub(super) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

pub(super) fn public(seed: u8) -> [u8; 32] {
    *key(seed).public_key().as_bytes()
}

/// What a warrant is to say. Fields hold CBOR where a test may want to write it wrongly.
#[derive(Clone)]
pub(super) struct Sketch {
    pub(super) version: u64,
    pub(super) id: [u8; 16],
    pub(super) kind: u64,
    pub(super) tools: Vec<u8>,
    /// Seed of the holder's key.
    pub(super) holder: u8,
    /// Seed of the key that signs; the issuer it names, unless a test says otherwise.
    pub(super) signer: u8,
    pub(super) issuer: Option<u8>,
    pub(super) issued_at: u64,
    pub(super) expires_at: u64,
    pub(super) max_depth: u64,
    pub(super) parent_hash: Option<[u8; 32]>,
    pub(super) depth: u64,
    /// Further fields by number, as CBOR.
    pub(super) more: Vec<(u64, Vec<u8>)>,
}

/// An execution warrant of the root key 1 for key 2: the tool `read` with any `path`, for half an hour.
pub(super) fn root() -> Sketch {
    Sketch {
        version: 1,
        id: [1; 16],
        kind: 0,
        tools: tools(&[("read", constraints(&[("path", wildcard())]))]),
        holder: 2,
        signer: 1,
        issuer: None,
        issued_at: NOW - 300,
        expires_at: NOW + 1500,
        max_depth: 5,
        parent_hash: None,
        depth: 0,
        more: Vec::new(),
    }
}

/// An issuer warrant of the root key 1 for key 2: may issue `read`.
pub(super) fn issuer_root() -> Sketch {
    Sketch { kind: 1, tools: tools(&[]), more: vec![(11, texts(&["read"]))], ..root() }
}

impl Sketch {
    /// What the holder of this one hands on to key `holder`: the same, one deeper.
    pub(super) fn child(&self, holder: u8) -> Sketch {
        let mut id = self.id;
        id[0] += 1;
        Sketch {
            id,
            holder,
            signer: self.holder,
            parent_hash: Some(Sha256::digest(self.payload()).into()),
            depth: self.depth + 1,
            ..self.clone()
        }
    }

    pub(super) fn with(mut self, field: u64, content: Vec<u8>) -> Sketch {
        self.more.retain(|(number, _)| *number != field);
        self.more.push((field, content));
        self
    }

    pub(super) fn without(mut self, field: u64) -> Sketch {
        self.more.retain(|(number, _)| *number != field);
        self
    }

    pub(super) fn granting(self, tools: Vec<u8>) -> Sketch {
        Sketch { tools, ..self }
    }

    /// The fields by number, in ascending order.
    pub(super) fn fields(&self) -> Vec<(u64, Vec<u8>)> {
        let mut fields = vec![
            (0, unsigned(self.version)),
            (1, cbor(|w| w.bytes(&self.id))),
            (2, unsigned(self.kind)),
            (3, self.tools.clone()),
            (4, ed25519(&public(self.holder))),
            (5, ed25519(&public(self.issuer.unwrap_or(self.signer)))),
            (6, unsigned(self.issued_at)),
            (7, unsigned(self.expires_at)),
            (8, unsigned(self.max_depth)),
            (18, unsigned(self.depth)),
        ];
        fields.extend(self.parent_hash.map(|hash| (9, octets(&hash))));
        fields.extend(self.more.clone());
        fields.sort_by_key(|(number, _)| *number);
        fields
    }

    pub(super) fn payload(&self) -> Vec<u8> {
        numbered(&self.fields())
    }

    pub(super) fn seal(&self) -> Vec<u8> {
        seal(&self.payload(), self.signer)
    }
}

/// A map of numbered fields.
pub(super) fn numbered(fields: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = cbor(|w| w.map(fields.len()));
    for (number, content) in fields {
        bytes.extend(unsigned(*number));
        bytes.extend(content);
    }
    bytes
}

/// The envelope of a payload, signed.
pub(super) fn seal(payload: &[u8], signer: u8) -> Vec<u8> {
    let message = [b"tenuo-warrant-v1".as_slice(), &[1], payload].concat();
    let signature = key(signer).sign(&message).unwrap();
    let mut bytes = cbor(|w| {
        w.array(3);
        w.unsigned(1);
        w.bytes(payload);
    });
    bytes.extend(ed25519(signature.as_bytes()));
    bytes
}

/// A stack of envelopes.
pub(super) fn stack(envelopes: &[Vec<u8>]) -> Vec<u8> {
    [cbor(|w| w.array(envelopes.len())), envelopes.concat()].concat()
}

/// A stack of sketches.
pub(super) fn chain(sketches: &[&Sketch]) -> Vec<u8> {
    stack(&sketches.iter().map(|sketch| sketch.seal()).collect::<Vec<_>>())
}

pub(super) fn cbor(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.into_bytes()
}

pub(super) fn unsigned(value: u64) -> Vec<u8> {
    cbor(|w| w.unsigned(value))
}

pub(super) fn text(value: &str) -> Vec<u8> {
    cbor(|w| w.text(value))
}

pub(super) fn texts(values: &[&str]) -> Vec<u8> {
    array(&values.iter().map(|value| text(value)).collect::<Vec<_>>())
}

pub(super) fn array(items: &[Vec<u8>]) -> Vec<u8> {
    [cbor(|w| w.array(items.len())), items.concat()].concat()
}

pub(super) fn map(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = cbor(|w| w.map(members.len()));
    for (name, content) in members {
        bytes.extend(text(name));
        bytes.extend(content);
    }
    bytes
}

pub(super) fn ed25519(bytes: &[u8]) -> Vec<u8> {
    cbor(|w| {
        w.array(2);
        w.unsigned(1);
        w.bytes(bytes);
    })
}

pub(super) fn keys(seeds: &[u8]) -> Vec<u8> {
    array(&seeds.iter().map(|seed| ed25519(&public(*seed))).collect::<Vec<_>>())
}

/// Bytes as an array of numbers.
pub(super) fn octets(bytes: &[u8]) -> Vec<u8> {
    array(&bytes.iter().map(|byte| unsigned(u64::from(*byte))).collect::<Vec<_>>())
}

pub(super) fn extensions(members: &[(&str, &[u8])]) -> Vec<u8> {
    map(&members.iter().map(|(name, value)| (*name, octets(value))).collect::<Vec<_>>())
}

/// The field of tools; in the order given.
pub(super) fn tools(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    map(entries)
}

/// What is granted of one tool.
pub(super) fn constraints(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    map(&[("constraints", map(entries))])
}

/// `[type, content]`.
pub(super) fn constraint(id: u64, content: Vec<u8>) -> Vec<u8> {
    array(&[unsigned(id), content])
}

pub(super) fn wildcard() -> Vec<u8> {
    constraint(16, cbor(Writer::null))
}

pub(super) fn exact(value: &str) -> Vec<u8> {
    constraint(1, map(&[("value", text(value))]))
}

pub(super) fn pattern(value: &str) -> Vec<u8> {
    constraint(2, map(&[("pattern", text(value))]))
}

/// At most this much.
pub(super) fn most(value: f64) -> Vec<u8> {
    constraint(
        3,
        map(&[
            ("min", cbor(Writer::null)),
            ("max", cbor(|w| w.float(value).unwrap())),
            ("min_inclusive", cbor(|w| w.bool(true))),
            ("max_inclusive", cbor(|w| w.bool(true))),
        ]),
    )
}
