//! What is judged when, and what is remembered (protocol P6, C7).

use std::{sync::Arc, time::Duration};

use pact_mandate::{Monotonic, Now};
use pact_revocation::Lists;
use pact_verifier::{
    ChainCache, ReplayStore, Verifier,
    replay::{ProofId, ReplayFault, ReplayHealth},
};

use crate::{biscuit, tenuo, world::*};

fn in_each_format(story: impl Fn(World, Credential)) {
    let (credential, now) = tenuo::mint();
    story(World::new(now), credential);
    story(World::new(biscuit::start()), biscuit::mint(Some(AGENT)));
}

#[test]
fn p6_a_proof_counts_once() {
    in_each_format(|world, credential| {
        let call = || world.judged("read_file", "{}").unwrap();
        let proof = world.prove(&credential, &call(), AGENT);
        assert_eq!(code(world.admit(&credential, &proof, call())), "permit");
        assert_eq!(code(world.admit(&credential, &proof, call())), "replayed");
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit", "a new proof for the same call");
    });
}

#[test]
fn p6_a_refused_call_burns_no_proof() {
    in_each_format(|mut world, credential| {
        let judged = world.judged("read_file", "{}").unwrap();
        let call = || judged.clone();
        let proof = world.prove(&credential, &call(), AGENT);
        let good = (world.lists.clone(), world.verifier.clone());
        let held = world.verifier.replay().health().held;
        // Rung 3 …
        world.lists = Lists::none();
        assert_eq!(code(world.admit(&credential, &proof, call())), "list_missing");
        world.lists = list(world.now, &credential.entries);
        assert_eq!(code(world.admit(&credential, &proof, call())), "revoked");
        world.lists = good.0;
        // … and rung 4: issuer, policy.
        let mut narrow = issuer();
        narrow.speaks.actions.clear();
        world.verifier = good.1.with_trust(trust(vec![narrow]));
        assert_eq!(code(world.admit(&credential, &proof, call())), "issuer_scope");
        let other_policy = policy("[tools.read_file]\naction = 'task.write'\nproject = { const = 'web' }");
        world.verifier = good.1.with_policy(other_policy);
        let judged_before = good.1.policy().judge(call().asked).unwrap();
        assert_eq!(code(world.admit(&credential, &proof, judged_before)), "judged_otherwise");
        world.verifier = good.1;
        assert_eq!(world.verifier.replay().health().held, held, "nothing was recorded");
        assert_eq!(code(world.admit(&credential, &proof, call())), "permit");
        assert_eq!(code(world.admit(&credential, &proof, call())), "replayed");
    });
}

#[test]
fn p7_a_proof_from_before_the_store_is_refused() {
    in_each_format(|mut world, credential| {
        let young = World::new(later(world.now, 990));
        world.verifier = young.verifier.clone();
        // That store began ten seconds before now.
        let judged = world.judged("read_file", "{}").unwrap();
        let call = || judged.clone();
        assert_eq!(
            code(world.admit(&credential, &world.prove(&credential, &call(), AGENT), call())),
            "permit"
        );
        world.now = at(world.now.wall.seconds() - 5);
        world.lists = list(world.now, &[]);
        let proof = world.prove(&credential, &call(), AGENT);
        assert_eq!(code(world.admit(&credential, &proof, call())), "proof_before_store");
    });
}

#[test]
fn c7_the_chain_is_cached_and_everything_else_is_judged_again() {
    in_each_format(|mut world, credential| {
        assert!(world.verifier.cache().is_empty());
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        assert_eq!(world.verifier.cache().len(), 1);
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        assert_eq!(world.verifier.cache().len(), 1);
        assert_ne!(world.code(&credential, "read_file", r#"{"cost":3}"#), "permit");
        world.lists = Lists::none();
        assert_eq!(world.code(&credential, "read_file", "{}"), "list_missing");
    });
}

#[test]
fn c7_a_refusal_is_not_cached() {
    in_each_format(|mut world, credential| {
        let good = world.verifier.clone();
        let mut without_roots = issuer();
        without_roots.roots.clear();
        world.verifier = good.with_trust(trust(vec![without_roots]));
        assert_ne!(world.code(&credential, "read_file", "{}"), "permit");
        assert!(world.verifier.cache().is_empty());
        world.verifier = good;
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
    });
}

#[test]
fn c7_what_was_verified_under_another_trust_does_not_count() {
    in_each_format(|mut world, credential| {
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        let mut without_roots = issuer();
        without_roots.roots.clear();
        world.verifier = world.verifier.with_trust(trust(vec![without_roots]));
        assert_eq!(world.call(&credential, "read_file", "{}").unwrap_err().rung(), 1);
    });
}

#[test]
fn c7_t1_a_cached_chain_dies_at_its_expiry_by_either_clock() {
    in_each_format(|mut world, credential| {
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        let start = world.now;
        // Two hours pass, and the wall clock is set back to where it was: the chain is verified again.
        world.now = Now::new(start.wall, later(start, 7200).monotonic);
        world.lists = list(world.now, &[]);
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        // The wall clock passes the expiry while no time passes.
        world.now = Now::new(later(start, 7200).wall, Monotonic::from_origin(Duration::ZERO));
        world.lists = list(world.now, &[]);
        assert_eq!(world.call(&credential, "read_file", "{}").unwrap_err().rung(), 1);
    });
}

#[test]
fn c7_the_cache_is_bounded_by_the_weight_of_what_it_holds() {
    let mut world = World::new(biscuit::start());
    let (verifier, text) = (world.verifier.clone(), biscuit::mint(Some(AGENT)).text);
    let most = u64::try_from(text.len()).unwrap() * 4 * 3 + 3 * 1024;
    world.verifier = Verifier::new(
        verifier.trust().clone(),
        verifier.policy().clone(),
        verifier.audience().clone(),
        Arc::new(NeverFull),
        Arc::new(ChainCache::new(most)),
    );
    for _ in 0..10 {
        assert_eq!(world.code(&biscuit::mint(Some(AGENT)), "read_file", "{}"), "permit");
        assert!(world.verifier.cache().len() <= 5, "{}", world.verifier.cache().len());
    }
}

/// The cache is what is tested.
struct NeverFull;

impl ReplayStore for NeverFull {
    fn record(&self, _: &ProofId, _: Now) -> Result<(), ReplayFault> {
        Ok(())
    }

    fn health(&self) -> ReplayHealth {
        ReplayHealth { since: biscuit::start().wall, held: 0, limit: 0, failed: None }
    }
}
