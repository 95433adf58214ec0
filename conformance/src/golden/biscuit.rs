//! Biscuit tokens: two blocks of the exported shape, and blocks of any bytes.

use biscuit_auth::{
    Biscuit, KeyPair, PrivateKey,
    builder::{Algorithm, BlockBuilder},
    format::schema::{self, proof},
};
use prost::Message;
use sha2::{Digest, Sha256};

use super::{Fault, key};

const AUTHORITY: &str = r#"
mandate("11111111-1111-4111-9111-111111111111");
right("web", "task.read");
check if tool("task.read"), project("web");
check if arg("cost_usd", $v), $v <= 2500000;
check if time($t), $t <= 2027-01-15T09:00:00Z;
"#;

/// The serialised blocks of the golden token.
pub fn blocks() -> Result<[Vec<u8>; 2], Fault> {
    let holder = key::holder_key()?;
    let leaf = format!(
        r#"
holder("{}");
mandate("22222222-2222-4222-a222-222222222222");
check if tool("task.read"), project("web");
check if arg("cost_usd", $v), $v <= 1000000;
check if time($t), $t <= 2027-01-15T08:30:00Z;
reject if arg($k, $v), !{{"cost_usd", "task_id"}}.contains($k);
"#,
        pact_mandate::Signer::public_key(&holder)
    );
    let token = Biscuit::builder().code(AUTHORITY)?.build(&root()?)?;
    let token = token.append(BlockBuilder::new().code(leaf)?)?;
    let outer = schema::Biscuit::decode(token.to_vec()?.as_slice())?;
    let leaf = outer.blocks.into_iter().next().ok_or("the token has lost its second block")?;
    Ok([outer.authority.block, leaf.block])
}

/// The golden token.
pub fn token() -> Result<Vec<u8>, Fault> {
    sign(&blocks()?)
}

/// A token of these blocks, rightly signed whatever they hold.
pub fn sign(blocks: &[Vec<u8>]) -> Result<Vec<u8>, Fault> {
    let mut signer = root()?;
    let root_key_id = Some(root_id(&signer.public().to_bytes()));
    let mut links = Vec::new();
    for (block, seed) in blocks.iter().zip(100_u8..) {
        let next = KeyPair::from(&PrivateKey::from_bytes(&[seed; 32], Algorithm::Ed25519)?);
        let payload = [block.as_slice(), &0_i32.to_le_bytes(), &next.public().to_bytes()].concat();
        links.push(schema::SignedBlock {
            block: block.clone(),
            next_key: next.public().to_proto(),
            signature: signer.sign(&payload)?.to_bytes().to_vec(),
            external_signature: None,
            version: None,
        });
        signer = next;
    }
    let mut links = links.into_iter();
    let authority = links.next().ok_or("a token has at least one block")?;
    let secret = proof::Content::NextSecret(signer.private().to_bytes().to_vec());
    let proof = schema::Proof { content: Some(secret) };
    Ok(schema::Biscuit { root_key_id, authority, blocks: links.collect(), proof }.encode_to_vec())
}

fn root() -> Result<KeyPair, Fault> {
    let seed = key::mandate_key()?.seed();
    Ok(KeyPair::from(&PrivateKey::from_bytes(seed.as_slice(), Algorithm::Ed25519)?))
}

fn root_id(public: &[u8]) -> u32 {
    let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(public));
    u32::from_be_bytes([a, b, c, d])
}
