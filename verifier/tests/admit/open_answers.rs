//! Answers that stay open end with what they rest on (protocol R9).

use pact_revocation::Lists;
use pact_verifier::{PresentedProof, Standing};

use crate::{biscuit, tenuo, world::*};

fn in_each_format(story: impl Fn(World, Credential, Standing)) {
    let (credential, now) = tenuo::mint();
    let worlds = [(World::new(now), credential), (World::new(biscuit::start()), biscuit::mint(Some(AGENT)))];
    for (world, credential) in worlds {
        let standing = world.call(&credential, "read_file", "{}").unwrap().standing();
        story(world, credential, standing);
    }
}

fn code(world: &World, standing: &Standing) -> &'static str {
    match world.verifier.still_permits(standing, &world.lists, world.now) {
        Ok(()) => "flows",
        Err(refusal) => refusal.code(),
    }
}

#[test]
fn r9_an_open_answer_flows_while_its_chain_lives() {
    in_each_format(|mut world, _, standing| {
        assert_eq!(code(&world, &standing), "flows");
        world.now = later(world.now, 600);
        world.lists = list(world.now, &[]);
        assert_eq!(code(&world, &standing), "flows", "its proof was used up long ago");
    });
}

#[test]
fn r9_it_ends_with_revocation_staleness_expiry_trust_and_policy() {
    in_each_format(|mut world, credential, standing| {
        let (lists, verifier, now) = (world.lists.clone(), world.verifier.clone(), world.now);
        world.lists = list(world.now, &credential.entries[..1]);
        assert_eq!(code(&world, &standing), "revoked");
        world.lists = Lists::none();
        assert_eq!(code(&world, &standing), "list_missing");
        world.lists = lists.clone();
        world.now = later(now, 300);
        assert_eq!(code(&world, &standing), "list_stale");
        world.now = later(now, 7200);
        world.lists = list(world.now, &[]);
        assert_ne!(code(&world, &standing), "flows");
        (world.now, world.lists) = (now, lists);
        let mut without_roots = issuer();
        without_roots.roots.clear();
        world.verifier = verifier.with_trust(trust(vec![without_roots]));
        assert_ne!(code(&world, &standing), "flows");
        world.verifier = verifier.with_policy(policy("[tools.other]\naction = 'task.read'"));
        assert_eq!(code(&world, &standing), "tool_not_mapped");
        world.verifier = verifier;
        assert_eq!(code(&world, &standing), "flows");
    });
}

#[test]
fn r9_a_bearers_answer_ends_when_its_issuer_is_no_longer_trusted_for_bearers() {
    let mut world = World::new(biscuit::start());
    let verifier = world.verifier.clone();
    let mut trusting = issuer();
    trusting.bearer = true;
    world.verifier = verifier.with_trust(trust(vec![trusting]));
    let call = world.judged("read_file", "{}").unwrap();
    let permit = world.admit(&biscuit::mint(None), &PresentedProof::Missing, call).unwrap();
    let standing = permit.standing();
    assert_eq!(code(&world, &standing), "flows");
    world.verifier = verifier;
    assert_eq!(code(&world, &standing), "bearer_refused");
}

/// P3: what the policy must say when the answer begins it must still say while the answer flows.
#[test]
fn r9_an_answer_that_a_stock_proof_began_ends_when_the_policy_takes_none_any_more() {
    let takes = |stock: bool| policy(&format!("stock_proofs = {stock}\n{POLICY}"));
    let (credential, now) = tenuo::mint();
    let mut world = World::new(now);
    world.verifier = world.verifier.with_policy(takes(true));
    let arguments = r#"{"cost_usd":1,"project":"web"}"#;
    let call = world.judged("task.read", arguments).unwrap();
    let stock = tenuo_stock(&credential, &call, AGENT, now.wall);
    let begun_by_stock = world.admit(&credential, &stock, call).unwrap().standing();
    let begun_by_fresh = world.call(&credential, "task.read", arguments).unwrap().standing();
    assert_eq!((code(&world, &begun_by_stock), code(&world, &begun_by_fresh)), ("flows", "flows"));
    world.verifier = world.verifier.with_policy(takes(false));
    assert_eq!(code(&world, &begun_by_stock), "stock_proof_refused");
    assert_eq!(code(&world, &begun_by_fresh), "flows");
}
