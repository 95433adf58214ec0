//! Makes tokens: of the exported shape, of any source text, and of any bytes, signed with test keys.

use biscuit_auth::{
    Biscuit, BlockBuilder, KeyPair, PrivateKey,
    builder::Algorithm,
    format::schema::{self, proof},
};
use pact_mandate::{Format, Json, Judged, PublicKey, SecretKey, Signer, UnixTime};
use prost::Message;

use crate::{
    format::{
        Authority, Opened,
        biscuit::{BiscuitFault, open},
    },
    policy::Open,
    trust::{Projects, RootKey, Speaks, TrustSnapshot, TrustedIssuer},
};

/// 2027-01-02T03:04:05Z.
pub(super) const NOW: u64 = 1_798_859_045;
pub(super) const END: &str = "2027-01-02T04:04:05Z";
pub(super) const END_SECONDS: u64 = NOW + 3600;
pub(super) const MANDATE: &str = "11111111-1111-4111-8111-111111111111";

pub(super) fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

pub(super) fn key_pair(seed: u8, algorithm: Algorithm) -> KeyPair {
    KeyPair::from(&PrivateKey::from_bytes(&[seed; 32], algorithm).unwrap())
}

pub(super) fn root() -> KeyPair {
    key_pair(1, Algorithm::Ed25519)
}

pub(super) fn p256_root() -> KeyPair {
    key_pair(2, Algorithm::Secp256r1)
}

pub(super) fn root_key(pair: &KeyPair) -> RootKey {
    let bytes = pair.public().to_bytes();
    match pair {
        KeyPair::Ed25519(_) => RootKey::Ed25519 {
            id: "root".parse().unwrap(),
            key: PublicKey::from_bytes(&bytes.try_into().unwrap()).unwrap(),
        },
        KeyPair::P256(_) => {
            RootKey::P256 { id: "root-p256".parse().unwrap(), sec1: bytes.try_into().unwrap() }
        }
    }
}

pub(super) fn issuer(name: &str, roots: Vec<RootKey>) -> TrustedIssuer {
    TrustedIssuer {
        id: name.parse().unwrap(),
        roots,
        speaks: Speaks {
            formats: [Format::Biscuit].into(),
            actions: vec!["*".parse().unwrap()],
            projects: Projects::All,
        },
        bearer: false,
    }
}

pub(super) fn trust() -> TrustSnapshot {
    TrustSnapshot::new(vec![issuer("issuer.example", vec![root_key(&root()), root_key(&p256_root())])])
        .unwrap()
}

pub(super) fn root_id(pair: &KeyPair) -> u32 {
    root_key(pair).biscuit_id()
}

pub(super) fn holder() -> PublicKey {
    *SecretKey::from_seed(&[7; 32]).unwrap().public_key()
}

/// The authority block of the exported shape.
pub(super) fn authority() -> String {
    format!(
        r#"mandate("{MANDATE}"); right("web", "task.read"); right("web", "task.work");
        check if tool("task.read"), project("web") or tool("task.work"), project("web");
        check if arg("cost_usd", $v), $v <= 2500000;
        check if time($t), $t <= {END};"#
    )
}

/// The last block of the exported shape.
pub(super) fn leaf() -> String {
    format!(
        r#"holder("{}"); mandate("22222222-2222-4222-8222-222222222222");
        check if tool("task.read"), project("web");
        check if arg("cost_usd", $v), $v <= 1000000;
        check if time($t), $t <= {END};
        reject if arg($k, $v), !{{"cost_usd", "task_id"}}.contains($k);"#,
        holder()
    )
}

/// Mints with the crate.
pub(super) fn mint_under(pair: &KeyPair, blocks: &[&str]) -> Biscuit {
    let (first, others) = blocks.split_first().unwrap();
    let builder = Biscuit::builder().root_key_id(root_id(pair)).code(first).unwrap();
    let token = builder.build(pair).unwrap();
    others.iter().fold(token, |token, block| token.append(BlockBuilder::new().code(block).unwrap()).unwrap())
}

pub(super) fn mint(blocks: &[&str]) -> Vec<u8> {
    mint_under(&root(), blocks).to_vec().unwrap()
}

pub(super) fn pact() -> Vec<u8> {
    mint(&[&authority(), &leaf()])
}

/// A token's blocks as the schema has them.
pub(super) fn blocks_of(token: &[u8]) -> Vec<schema::Block> {
    let outer = schema::Biscuit::decode(token).unwrap();
    let links = [&outer.authority].into_iter().chain(&outer.blocks);
    links.map(|link| schema::Block::decode(link.block.as_slice()).unwrap()).collect()
}

/// Signs blocks of any bytes, so that only their structure can be at fault.
pub(super) fn sign(blocks: &[Vec<u8>]) -> schema::Biscuit {
    let mut signer = root();
    let mut links = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let next = key_pair(100 + u8::try_from(at).unwrap(), Algorithm::Ed25519);
        let payload = [block.as_slice(), &0_i32.to_le_bytes(), &next.public().to_bytes()].concat();
        links.push(schema::SignedBlock {
            block: block.clone(),
            next_key: next.public().to_proto(),
            signature: signer.sign(&payload).unwrap().to_bytes().to_vec(),
            external_signature: None,
            version: None,
        });
        signer = next;
    }
    let blocks = links.split_off(1);
    schema::Biscuit {
        root_key_id: Some(root_id(&root())),
        authority: links.remove(0),
        blocks,
        proof: schema::Proof {
            content: Some(proof::Content::NextSecret(signer.private().to_bytes().to_vec())),
        },
    }
}

/// A minted token whose block `block` is changed and everything signed anew.
pub(super) fn changed(blocks: &[&str], block: usize, change: impl FnOnce(&mut schema::Block)) -> Vec<u8> {
    let mut decoded = blocks_of(&mint(blocks));
    change(&mut decoded[block]);
    let encoded: Vec<Vec<u8>> = decoded.iter().map(Message::encode_to_vec).collect();
    sign(&encoded).encode_to_vec()
}

pub(super) fn open_at(token: &[u8], now: u64) -> Result<Opened, BiscuitFault> {
    open(token, &trust(), at(now))
}

pub(super) fn call(action: &str, arguments: &[(&str, &str)]) -> Judged {
    let read = |(name, json): &(&str, &str)| (String::from(*name), Json::parse(json.as_bytes()).unwrap());
    Judged { action: action.parse().unwrap(), arguments: arguments.iter().map(read).collect() }
}

/// What becomes of a call under a token, from the bytes on.
pub(super) fn judge(token: &[u8], call: &Judged, now: u64) -> Result<(), BiscuitFault> {
    match open_at(token, now)?.authority {
        Authority::Biscuit(token) => token.permits(call, &Open::nothing(), at(now)),
        Authority::Tenuo(_) => unreachable!("a Biscuit was opened"),
    }
}
