//! The judge against published vectors, against stacks of our own making, and against the format's own crate.

mod differential;
mod forge;
mod minted;
mod rules;
pub(super) mod seeds;
mod vectors;

use std::collections::BTreeMap;

use pact_mandate::{Action, Asked, Call, Format, IssuerId, Json, Judged, PublicKey, UnixTime};

use super::{Opened, TenuoFault, open};
use crate::{
    format::Authority,
    policy::Open,
    trust::{Projects, RootKey, Speaks, TrustSnapshot, TrustedIssuer},
};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn issuer() -> IssuerId {
    "issuer.example".parse().unwrap()
}

/// An issuer with one root, trusted for `formats`.
fn trust_in(root: &PublicKey, formats: &[Format]) -> TrustSnapshot {
    TrustSnapshot::new(vec![TrustedIssuer {
        id: issuer(),
        roots: vec![RootKey::Ed25519 { id: root.thumbprint().into(), key: *root }],
        speaks: Speaks {
            formats: formats.iter().copied().collect(),
            actions: vec!["*".parse().unwrap()],
            projects: Projects::All,
        },
        bearer: false,
    }])
    .unwrap()
}

fn trust(root: &PublicKey) -> TrustSnapshot {
    trust_in(root, &[Format::Tenuo])
}

/// A call whose tool has the action's own name.
fn call(tool: &str, arguments: &str) -> Call {
    let arguments = Json::parse(arguments.as_bytes()).unwrap();
    let action: Action = tool.parse().unwrap();
    let judged: BTreeMap<String, Json> =
        arguments.members().unwrap().iter().map(|m| (m.name.clone(), m.value.clone())).collect();
    Call {
        asked: Asked { tool: tool.to_owned(), arguments, params: [7; 32] },
        judged: Judged { action, arguments: judged },
    }
}

/// Opens and asks for one call.
fn permits(stack: &[u8], trust: &TrustSnapshot, now: u64, call: &Call) -> Result<Opened, TenuoFault> {
    let opened = open(stack, trust, at(now))?;
    let Authority::Tenuo(leaf) = &opened.authority else { panic!("opened as another format") };
    leaf.permits(&call.judged, &Open::nothing())?;
    Ok(opened)
}

fn code(result: Result<Opened, TenuoFault>) -> &'static str {
    result.map_or_else(|fault| fault.code(), |_| "accepted")
}

mod bytes {
    use pact_mandate::Signer;
    use proptest::prelude::*;

    use super::{
        super::warrant::Warrant,
        at,
        forge::{self, NOW, key, root},
        open, trust,
    };

    proptest! {
        #[test]
        fn c1_any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let trust = trust(key(1).public_key());
            prop_assert!(open(&bytes, &trust, at(NOW)).is_err());
            prop_assert!(open(&forge::stack(&[forge::seal(&bytes, 1)]), &trust, at(NOW)).is_err());
            let _ = Warrant::read(&bytes);
        }

        #[test]
        fn c1_any_change_of_a_payload_is_answered(position: prop::sample::Index, byte: u8, cut: bool) {
            let mut payload = root().payload();
            let position = position.index(payload.len());
            payload[position] = byte;
            if cut {
                payload.truncate(position);
            }
            let _ = Warrant::read(&payload);
        }
    }
}
