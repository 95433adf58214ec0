//! Acts on sessions (protocol M4): the owner's key proves each of them, and no scope is asked.

use pact_mandate::{Json, Signer, UnixTime, json::Number};
use pact_verifier::{
    Act, ActPermit, PresentedProof, Refusal,
    act::RequestId,
    proof::{FreshProof, dpop},
};

use crate::{biscuit, tenuo, world::*};

fn acts() -> [Act; 4] {
    let id = |number| RequestId::Number(Number::from_u64(number));
    [
        Act::listen("s1", None),
        Act::listen("s1", Some("e7".to_owned())),
        Act::close("s1"),
        Act::respond("s1", id(7), b"1"),
    ]
}

fn prove(credential: &Credential, act: &Act, seed: u8, when: UnixTime) -> PresentedProof {
    let audience = AUDIENCE.parse().unwrap();
    if credential.presented.format() == pact_mandate::Format::Tenuo {
        let fresh = FreshProof { id: new_id(), issued_at: when };
        let message = act.tenuo_message(&credential.leaf, &audience, &fresh).unwrap();
        return PresentedProof::Tenuo { signature: key(seed).sign(&message).unwrap(), fresh: Some(fresh) };
    }
    let jti = new_id().map(|byte| format!("{byte:02x}")).concat();
    let input = act.dpop_input(&public(seed), &credential.text, &audience, &jti, when).unwrap();
    PresentedProof::Dpop(dpop::assemble(&input, &key(seed).sign(input.as_bytes()).unwrap()))
}

fn admit(
    world: &World,
    credential: &Credential,
    proof: &PresentedProof,
    act: Act,
) -> Result<ActPermit, Refusal> {
    let admitted =
        world.verifier.admit_act(credential.presented.clone(), proof, act, &world.lists, world.now);
    admitted.map_err(|refused| refused.refusal)
}

fn in_each_format(story: impl Fn(World, Credential)) {
    let (credential, now) = tenuo::mint();
    story(World::new(now), credential);
    story(World::new(biscuit::start()), biscuit::mint(Some(AGENT)));
}

fn told(result: Result<ActPermit, Refusal>) -> &'static str {
    result.map_or_else(|refusal| refusal.code(), |_| "permit")
}

#[test]
fn m4_the_holder_proves_each_act_and_the_permit_says_whose_key_that_was() {
    in_each_format(|world, credential| {
        for act in acts() {
            let proof = prove(&credential, &act, AGENT, world.now.wall);
            let permit = admit(&world, &credential, &proof, act.clone()).unwrap();
            assert_eq!(permit.proven_by(), public(AGENT).thumbprint().into());
            assert_eq!(permit.into_act(), act);
            assert_eq!(told(admit(&world, &credential, &proof, act)), "replayed", "P6");
        }
    });
}

#[test]
fn m4_a_proof_is_for_one_act_by_one_key() {
    in_each_format(|world, credential| {
        let others = [
            Act::listen("s2", None),
            Act::close("s2"),
            Act::listen("s1", Some("e8".to_owned())),
            Act::respond("s1", RequestId::Number(Number::from_u64(7)), b"2"),
            Act::respond("s1", RequestId::Text("7".to_owned()), b"1"),
        ];
        for proven in acts() {
            for done in acts().into_iter().chain(others.clone()).filter(|done| *done != proven) {
                let proof = prove(&credential, &proven, AGENT, world.now.wall);
                let told = told(admit(&world, &credential, &proof, done));
                assert!(told.ends_with("_invalid") || told.starts_with("dpop_"), "{told}");
            }
            let thief = prove(&credential, &proven, AGENT + 1, world.now.wall);
            let told = told(admit(&world, &credential, &thief, proven));
            assert!(told.ends_with("_invalid") || told.starts_with("dpop_"), "{told}");
        }
    });
}

#[test]
fn m4_the_proof_of_a_call_is_none_of_an_act_nor_the_other_way_round() {
    in_each_format(|world, credential| {
        let call = world.judged("read_file", "{}").unwrap();
        let of_call = world.prove(&credential, &call, AGENT);
        assert_ne!(told(admit(&world, &credential, &of_call, Act::close("s1"))), "permit");
        let of_act = prove(&credential, &Act::close("s1"), AGENT, world.now.wall);
        assert!(world.admit(&credential, &of_act, call).is_err());
    });
}

#[test]
fn m4_an_act_needs_a_live_chain_a_holder_and_a_proof_that_is_none_of_stock() {
    in_each_format(|mut world, credential| {
        let act = Act::close("s1");
        let fresh = |world: &World| prove(&credential, &act, AGENT, world.now.wall);
        let missing = admit(&world, &credential, &PresentedProof::Missing, act.clone());
        assert_eq!(told(missing), "proof_missing");
        world.lists = list(world.now, &credential.entries[..1]);
        assert_eq!(told(admit(&world, &credential, &fresh(&world), act.clone())), "revoked");
        world.lists = pact_revocation::Lists::none();
        assert_eq!(told(admit(&world, &credential, &fresh(&world), act.clone())), "list_missing");
    });
    let (credential, now) = tenuo::mint();
    let mut world = World::new(now);
    world.verifier = world.verifier.with_policy(policy(&format!("stock_proofs = true\n{POLICY}")));
    let PresentedProof::Tenuo { signature, .. } = prove(&credential, &Act::close("s1"), AGENT, now.wall)
    else {
        panic!("of another kind")
    };
    let stock = PresentedProof::Tenuo { signature, fresh: None };
    assert_eq!(told(admit(&world, &credential, &stock, Act::close("s1"))), "stock_proof_refused");
}

#[test]
fn m4_a_credential_that_names_no_holder_owns_no_session() {
    let mut world = World::new(biscuit::start());
    let mut trusting = issuer();
    trusting.bearer = true;
    world.verifier = world.verifier.with_trust(trust(vec![trusting]));
    let credential = biscuit::mint(None);
    let proof = prove(&credential, &Act::close("s1"), AGENT, world.now.wall);
    for proof in [proof, PresentedProof::Missing] {
        assert_eq!(told(admit(&world, &credential, &proof, Act::close("s1"))), "act_without_holder");
    }
}

#[test]
fn r9_what_an_act_opened_ends_with_its_chain_and_not_with_its_scope() {
    in_each_format(|mut world, credential| {
        let act = Act::listen("s1", None);
        let proof = prove(&credential, &act, AGENT, world.now.wall);
        let standing = admit(&world, &credential, &proof, act).unwrap().standing();
        let code = |world: &World| {
            let told = world.verifier.still_permits(&standing, &world.lists, world.now);
            told.map_or_else(|refusal| refusal.code(), |()| "flows")
        };
        let (lists, now, verifier) = (world.lists.clone(), world.now, world.verifier.clone());
        world.verifier = verifier.with_policy(policy("[tools.other]\naction = 'task.read'"));
        assert_eq!(code(&world), "flows");
        world.lists = list(now, &credential.entries[..1]);
        assert_eq!(code(&world), "revoked");
        world.lists = lists;
        world.now = later(now, 300);
        assert_eq!(code(&world), "list_stale");
        world.now = later(now, 7200);
        world.lists = list(world.now, &[]);
        assert_ne!(code(&world), "flows", "it has expired");
        (world.now, world.lists) = (now, list(now, &[]));
        let mut without_roots = issuer();
        without_roots.roots.clear();
        world.verifier = verifier.with_trust(trust(vec![without_roots]));
        assert_ne!(code(&world), "flows");
    });
}

#[test]
fn m4_an_id_that_cannot_be_signed_is_refused() {
    let (credential, now) = tenuo::mint();
    let world = World::new(now);
    let Json::Number(huge) = Json::parse(b"12345678901234567890123").unwrap() else { panic!("no number") };
    let act = Act::respond("s1", RequestId::Number(huge), b"1");
    let proof = prove(&credential, &Act::close("s1"), AGENT, now.wall);
    assert_eq!(told(admit(&world, &credential, &proof, act)), "tenuo_proof_inexact_number");
}
