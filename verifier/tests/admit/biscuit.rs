//! Biscuit tokens, minted by the `biscuit-auth` crate.

use base64::{Engine, engine::general_purpose::URL_SAFE};
use biscuit_auth::{
    Biscuit, KeyPair, PrivateKey,
    builder::{Algorithm, BlockBuilder},
};
use pact_mandate::Now;
use pact_revocation::Entry;
use pact_verifier::{Presented, PresentedProof, refusal::Class, trust::RootKey};

use crate::world::*;

const MANDATES: [&str; 2] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

pub(crate) fn start() -> Now {
    at(1_798_859_045)
}

fn limits(most: u64, now: Now) -> String {
    let ends = now.wall.plus(3600).rfc3339();
    format!(
        r#"check if tool("task.read"), project("web") or tool("task.write"), project("web");
        check if arg("cost_usd", $v), $v <= {most};
        check if time($t), $t <= {ends};"#
    )
}

/// An exported chain of two mandates; the second names the holder, if there is one.
pub(crate) fn mint(holder: Option<u8>) -> Credential {
    mint_from(holder, "")
}

/// The same with a further statement in the authority block.
pub(crate) fn mint_from(holder: Option<u8>, statement: &str) -> Credential {
    let now = start();
    let pair = KeyPair::from(&PrivateKey::from_bytes(&[ROOT; 32], Algorithm::Ed25519).unwrap());
    let root_id = RootKey::Ed25519 { id: "root-1".parse().unwrap(), key: public(ROOT) }.biscuit_id();
    let authority = format!(
        r#"{statement} mandate("{}"); right("web", "task.read"); right("web", "task.write"); {}"#,
        MANDATES[0],
        limits(5_000_000, now)
    );
    let token = Biscuit::builder().root_key_id(root_id).code(authority).unwrap().build(&pair).unwrap();
    let holder = holder.map(|seed| format!(r#"holder("{}");"#, public(seed))).unwrap_or_default();
    let last = format!(
        r#"{holder} mandate("{}"); {} reject if arg($k, $v), !{{"cost_usd"}}.contains($k);"#,
        MANDATES[1],
        limits(2_500_000, now).replace(r#" or tool("task.write"), project("web")"#, "")
    );
    let token = token.append(BlockBuilder::new().code(last).unwrap()).unwrap();
    let text = URL_SAFE.encode(token.to_vec().unwrap());
    let entries = token.revocation_identifiers().iter().map(|id| Entry::of_block(id)).collect();
    Credential { presented: Presented::biscuit(&text).unwrap(), text, leaf: [0; 16], entries }
}

fn world() -> (World, Credential) {
    (World::new(start()), mint(Some(AGENT)))
}

#[test]
fn a_call_within_everything_is_permitted_and_the_permit_knows_why() {
    let (world, credential) = world();
    let permit = world.call(&credential, "read_file", r#"{"path":"/a","cost":2.5}"#).unwrap();
    assert_eq!(permit.chain().issuer().as_str(), ISSUER);
    assert_eq!(permit.chain().root().as_str(), "root-1");
    assert_eq!(permit.chain().ids().len(), 2);
    assert_eq!(permit.proven_by(), Some(public(AGENT).thumbprint().into()));
}

#[test]
fn p6_whoever_a_holderless_token_is_handed_on_to_counts_to_the_share_of_its_first_block() {
    let (world, credential) = world();
    let permit = world.call(&credential, "read_file", "{}").unwrap();
    assert_eq!(permit.proof().unwrap().grant(), &credential.entries[0]);
}

#[test]
fn what_the_credential_does_not_allow_is_forbidden() {
    let (world, credential) = world();
    let cases =
        [("read_file", r#"{"cost":2.500001}"#), ("read_file", r#"{"project":"shop"}"#), ("write_file", "{}")];
    for (tool, arguments) in cases {
        let refused = world.call(&credential, tool, arguments).unwrap_err();
        assert_eq!((refused.rung(), refused.class()), (4, Class::Forbidden), "{tool} {arguments}: {refused}");
    }
}

#[test]
fn p4_a_call_without_the_holders_own_proof_for_it_is_refused() {
    let (world, credential) = world();
    let call = || world.judged("read_file", r#"{"cost":1}"#).unwrap();
    let refused = |proof: &PresentedProof| world.admit(&credential, proof, call()).unwrap_err();
    assert_eq!(refused(&PresentedProof::Missing).code(), "proof_missing");
    let of_tenuo = tenuo_p1(&credential, &call(), AGENT, world.now.wall);
    assert_eq!(refused(&of_tenuo).code(), "proof_wrong_kind");
    let other_arguments = world.judged("read_file", r#"{"cost":2}"#).unwrap();
    let other_text =
        Credential { text: credential.text.trim_end_matches('=').to_owned() + "x", ..credential.clone() };
    let proofs = [
        world.prove(&credential, &call(), ROOT),
        world.prove(&credential, &other_arguments, AGENT),
        world.prove(&other_text, &call(), AGENT),
        dpop(&credential, &call(), AGENT, world.now.wall.minus(61)),
        dpop(&credential, &call(), AGENT, world.now.wall.plus(6)),
    ];
    for proof in proofs {
        let refused = refused(&proof);
        assert_eq!((refused.rung(), refused.class()), (2, Class::Unauthenticated), "{refused}");
    }
    assert_eq!(world.code(&credential, "read_file", r#"{"cost":1}"#), "permit");
}

#[test]
fn p8_a_token_without_a_holder_is_used_by_its_bearer_only_where_trust_says_so() {
    let (mut world, _) = world();
    let bearer = mint(None);
    let use_it = |world: &World, proof: &PresentedProof| {
        code(world.admit(&bearer, proof, world.judged("read_file", "{}").unwrap()))
    };
    assert_eq!(use_it(&world, &PresentedProof::Missing), "bearer_refused");
    let mut trusting = issuer();
    trusting.bearer = true;
    world.verifier = world.verifier.with_trust(trust(vec![trusting]));
    assert_eq!(use_it(&world, &PresentedProof::Missing), "permit");
    assert_eq!(use_it(&world, &PresentedProof::Missing), "permit", "there is no proof to use up");
    let proof = world.prove(&bearer, &world.judged("read_file", "{}").unwrap(), AGENT);
    assert_eq!(use_it(&world, &proof), "proof_without_holder");
}

#[test]
fn c3_a_token_that_names_a_holder_is_never_a_bearer_token() {
    let (mut world, credential) = world();
    let mut trusting = issuer();
    trusting.bearer = true;
    world.verifier = world.verifier.with_trust(trust(vec![trusting]));
    let call = world.judged("read_file", "{}").unwrap();
    assert_eq!(code(world.admit(&credential, &PresentedProof::Missing, call)), "proof_missing");
}
