//! A small world for the tests of exports: an issuer, chains, and the clock that Tenuo's crate reads.

use std::time::SystemTime;

use biscuit_auth::{Biscuit, builder::AuthorizerBuilder};
use pact_mandate::{
    Ceilings, Format, MandateId, SecretKey, Signer, UnixTime, Validity, chain::ChildGrant, mandate::RootGrant,
};
use tenuo::{Authorizer, ConstraintValue};

use super::{Credential, ExportError, Order, biscuit, tenuo as warrants};
use crate::{
    chain::UnrevokedChain,
    delegate::delegate,
    keyring::biscuit_key_id,
    mint::mint,
    record::{CredentialId, MandateRecord},
};

#[expect(clippy::disallowed_methods, reason = "Tenuo's crate reads the same clock, so the tests must")]
pub(crate) fn now() -> UnixTime {
    UnixTime::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

pub(crate) fn issuer() -> SecretKey {
    SecretKey::from_seed(&[1; 32]).unwrap()
}

pub(crate) fn agent() -> SecretKey {
    SecretKey::from_seed(&[2; 32]).unwrap()
}

pub(crate) fn id(number: u8) -> MandateId {
    MandateId::from_random([number; 16])
}

pub(crate) fn limits(limits: &[(&str, &str)]) -> Ceilings {
    let all = limits.iter().map(|(name, most)| (name.parse().unwrap(), most.parse().unwrap()));
    Ceilings::try_from(all.collect::<std::collections::BTreeMap<_, _>>()).unwrap()
}

fn scope(items: &[&str]) -> pact_mandate::Scope {
    items.iter().map(|item| item.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()
}

/// One link: scope, limits, delegations left.
pub(crate) type Link<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], u8);

pub(crate) fn records(links: &[Link<'_>], lifetime: u64) -> Vec<MandateRecord> {
    let now = now();
    let key = issuer();
    let keys = ring();
    let mut records: Vec<MandateRecord> = Vec::new();
    for (at, (items, most, delegations)) in links.iter().enumerate() {
        let number = u8::try_from(at + 1).unwrap();
        let holder = format!("agent-{number}").parse().unwrap();
        let (scope, limits, delegations) = (scope(items), limits(most), *delegations);
        let record = if records.is_empty() {
            let validity = Validity { not_before: now, expires_at: now.plus(lifetime) };
            let human = "boss".parse().unwrap();
            mint(RootGrant { id: id(number), human, holder, scope, limits, delegations, validity }, &key)
                .unwrap()
        } else {
            let parent = UnrevokedChain::verify(&records, &keys, now).unwrap();
            let grant = ChildGrant {
                id: id(number),
                holder,
                scope,
                limits,
                delegations,
                issued_at: now,
                expires_at: None,
            };
            delegate(&parent, grant, &key).unwrap()
        };
        records.push(record);
    }
    records
}

pub(crate) fn ring() -> pact_mandate::jwks::KeySet {
    let key = issuer();
    pact_mandate::jwks::KeySet::new(vec![(key.key_id().clone(), *key.public_key())]).unwrap()
}

pub(crate) fn chain(links: &[Link<'_>]) -> UnrevokedChain {
    UnrevokedChain::verify(&records(links, 3600), &ring(), now()).unwrap()
}

fn order() -> Order {
    Order { lifetime: 600, ..Order::new(*agent().public_key(), now()) }
}

fn release(export: super::Export) -> Credential {
    export.release(|_| Ok::<_, std::convert::Infallible>(())).unwrap()
}

const READ_WORK: &[&str] = &["task.read@project:web", "task.work@project:web", "task.read@project:api"];

fn three(left: u8) -> UnrevokedChain {
    chain(&[
        (READ_WORK, &[("cost_usd", "10"), ("runs", "50")], 3),
        (READ_WORK, &[("cost_usd", "2.5")], 2),
        (&["task.read@project:web"], &[("runs", "7")], left),
    ])
}

fn stack(credential: &Credential) -> tenuo::wire::WarrantStack {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(credential.text()).unwrap();
    tenuo::wire::decode_stack(&bytes).unwrap()
}

#[test]
fn a_chain_of_n_mandates_is_n_plus_1_warrants_of_the_shape_of_board_rule_5_2() {
    let chain = three(1);
    let credential = release(warrants::export(&chain, &order(), &issuer()).unwrap());
    let stack = stack(&credential).0;
    assert_eq!(stack.len(), 4);
    let board = issuer().public_key().as_bytes().to_owned();
    for (depth, warrant) in stack.iter().enumerate() {
        assert_eq!(warrant.depth(), u32::try_from(depth).unwrap());
        assert_eq!(warrant.issuer().to_bytes(), board);
        assert!(warrant.extensions().is_empty());
        if depth < 3 {
            assert_eq!(warrant.authorized_holder().to_bytes(), board);
            assert_eq!(warrant.max_depth(), Some(64));
        }
    }
    let leaf = stack.last().unwrap();
    assert_eq!(leaf.authorized_holder().to_bytes(), *agent().public_key().as_bytes());
    // The root's first tool: two projects, sorted; the leaf: one project and the limits of every ancestor.
    let root = stack[0].capabilities().unwrap();
    assert_eq!(root.keys().collect::<Vec<_>>(), ["task.read", "task.work"]);
    let json = serde_json::to_value(leaf.capabilities().unwrap()).unwrap();
    let expected = serde_json::json!({"task.read": {"constraints": {
        "cost_usd": [3, {"min": null, "max": 2.5, "min_inclusive": true, "max_inclusive": true}],
        "project": [1, {"value": "web"}],
        "runs": [3, {"min": null, "max": 7.0, "min_inclusive": true, "max_inclusive": true}],
        "task_id": [16, null],
    }}});
    assert_eq!(json, expected);
    // Warrants 1 to N stand for the mandates; the leaf stands for the last one once more.
    let record = credential.record();
    let mandates: Vec<_> = record.minted.iter().map(|minted| minted.mandate).collect();
    assert_eq!(mandates, [id(1), id(2), id(3), id(3)]);
    for (minted, warrant) in record.minted.iter().zip(&stack) {
        assert_eq!(minted.id, CredentialId::Warrant(*warrant.id().as_bytes()));
        assert_eq!(minted.id.to_string(), warrant.id().to_prefixed_string());
    }
}

#[test]
fn c5_a_leaf_may_be_handed_on_as_often_as_its_mandate() {
    for left in [0, 1] {
        let credential = release(warrants::export(&three(left), &order(), &issuer()).unwrap());
        let leaf = stack(&credential).0.pop().unwrap();
        assert_eq!(leaf.max_depth(), Some(leaf.depth() + u32::from(left)));
        assert_eq!(leaf.is_terminal(), left == 0);
    }
}

#[test]
fn a_credential_never_outlives_its_mandate_or_its_order() {
    let now = now();
    for (mandate, lifetime, latest) in [(3600, 600, 600), (120, 600, 120), (3600, 1, 60)] {
        let records = records(&[(READ_WORK, &[], 1)], mandate);
        let chain = UnrevokedChain::verify(&records, &ring(), now).unwrap();
        let order = Order { lifetime, now, ..order() };
        for export in
            [warrants::export(&chain, &order, &issuer()), biscuit::export(&chain, &order, &issuer())]
        {
            let record = release(export.unwrap()).record().clone();
            // The test's clock may have moved on by a second since.
            assert!(record.expires_at <= now.plus(latest + 1), "{record:?}");
            assert!(record.minted.iter().all(|minted| minted.expires_at <= records[0].expires_at));
        }
    }
}

#[test]
fn an_export_leaves_only_when_its_ids_were_kept() {
    let export = biscuit::export(&three(0), &order(), &issuer()).unwrap();
    assert_eq!(export.record().minted.len(), 3);
    assert_eq!(export.release(|_| Err("disk full")).unwrap_err(), "disk full");
}

#[test]
fn a_chain_of_n_mandates_is_one_token_of_n_blocks_of_the_shape_of_board_rule_5_3() {
    let order = order();
    let chain = three(1);
    let credential = release(biscuit::export(&chain, &order, &issuer()).unwrap());
    let key = biscuit_auth::PublicKey::from_bytes(
        issuer().public_key().as_bytes(),
        biscuit_auth::Algorithm::Ed25519,
    );
    let token = Biscuit::from_base64(credential.text(), key.unwrap()).unwrap();
    let end = |at: usize| {
        let end = chain.chain().mandates().nth(at).unwrap().validity().expires_at;
        if at == 2 { end.min(order.now.plus(600)) } else { end }.rfc3339()
    };
    let scope = r#"check if tool("task.read"), project("web") or tool("task.work"), project("web") or tool("task.read"), project("api");"#;
    let authority = format!(
        "mandate(\"{}\");\nright(\"web\", \"task.read\");\nright(\"web\", \"task.work\");\nright(\"api\", \"task.read\");\n{scope}\n\
         check if arg(\"cost_usd\", $v), $v <= 10000000;\ncheck if arg(\"runs\", $v), $v <= 50000000;\n\
         check if time($t), $t <= {};\n",
        id(1),
        end(0)
    );
    let middle = format!(
        "mandate(\"{}\");\n{scope}\ncheck if arg(\"cost_usd\", $v), $v <= 2500000;\n\
         check if arg(\"runs\", $v), $v <= 50000000;\ncheck if time($t), $t <= {};\n",
        id(2),
        end(1)
    );
    let last = format!(
        "holder(\"{}\");\nmandate(\"{}\");\ncheck if tool(\"task.read\"), project(\"web\");\n\
         check if arg(\"cost_usd\", $v), $v <= 2500000;\ncheck if arg(\"runs\", $v), $v <= 7000000;\n\
         check if time($t), $t <= {};\n\
         reject if arg($k, $v), !{{\"cost_usd\", \"runs\", \"task_id\"}}.contains($k);\n",
        agent().public_key(),
        id(3),
        end(2)
    );
    for (at, expected) in [authority, middle, last].into_iter().enumerate() {
        assert_eq!(token.print_block_source(at).unwrap(), expected);
    }
    // The lowest version that carries each block: `reject if` needs the latest, nothing else does.
    let versions: Vec<u32> = (0..3).map(|at| token.block_version(at).unwrap()).collect();
    assert_eq!(versions, [3, 3, 6]);
    assert_eq!(token.root_key_id(), Some(biscuit_key_id(issuer().key_id(), issuer().public_key())));
    let record = credential.record();
    let ids: Vec<Vec<u8>> = token.revocation_identifiers();
    assert_eq!(ids.len(), 3);
    for (minted, id) in record.minted.iter().zip(ids) {
        assert_eq!(minted.id, CredentialId::Block(id.try_into().unwrap()));
    }
    let text = credential.text();
    assert_eq!(text.len() % 4, 0, "padded");
    assert!(!text.contains(['+', '/']), "URL-safe");
}

#[test]
fn c5_a_biscuit_that_may_not_be_handed_on_is_sealed() {
    for left in [0, 1] {
        let credential = release(biscuit::export(&three(left), &order(), &issuer()).unwrap());
        let key = biscuit_auth::PublicKey::from_bytes(
            issuer().public_key().as_bytes(),
            biscuit_auth::Algorithm::Ed25519,
        );
        let token = Biscuit::from_base64(credential.text(), key.unwrap()).unwrap();
        assert_eq!(token.append(biscuit_auth::BlockBuilder::new()).is_err(), left == 0);
    }
}

/// Board rule 5.3, verifier side.
fn biscuit_allows(credential: &Credential, tool: &str, project: &str, args: &str) -> bool {
    let key = biscuit_auth::PublicKey::from_bytes(
        issuer().public_key().as_bytes(),
        biscuit_auth::Algorithm::Ed25519,
    );
    let token = Biscuit::from_base64(credential.text(), key.unwrap()).unwrap();
    let code = format!(
        r#"tool("{tool}"); project("{project}"); time({}); {args} allow if tool($t), project($p), right($p, $t); deny if true;"#,
        now().rfc3339()
    );
    let mut authorizer = AuthorizerBuilder::new().code(code).unwrap().build(&token).unwrap();
    authorizer.authorize().is_ok()
}

fn tenuo_allows(credential: &Credential, tool: &str, args: &[(&str, ConstraintValue)]) -> bool {
    let stack = stack(credential).0;
    let root = tenuo::PublicKey::from_bytes(issuer().public_key().as_bytes()).unwrap();
    let authorizer = Authorizer::builder().trusted_root(root).build().unwrap();
    let args: std::collections::HashMap<String, ConstraintValue> =
        args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let agent = tenuo::SigningKey::from_bytes(&agent().seed());
    let proof = stack.last().unwrap().sign(&agent, tool, &args).unwrap();
    authorizer.check_chain(&stack, tool, &args, Some(&proof), &[]).is_ok()
}

#[test]
fn both_formats_allow_what_the_mandate_allows_and_no_more() {
    let chain = three(0);
    let token = release(biscuit::export(&chain, &order(), &issuer()).unwrap());
    let warrant = release(warrants::export(&chain, &order(), &issuer()).unwrap());
    // Tool, project, cost in millionths, runs, more arguments.
    let cases = [
        ("task.read", "web", 2_500_000, 7, false, true),
        ("task.read", "web", 2_500_001, 7, false, false),
        ("task.read", "web", 0, 8, false, false),
        ("task.read", "api", 0, 1, false, false),
        ("task.work", "web", 0, 1, false, false),
        ("task.read", "web", 0, 1, true, false),
    ];
    for (tool, project, cost, runs, other, expected) in cases {
        let more = if other { r#"arg("other", 1);"# } else { "" };
        let args = format!(
            r#"arg("task_id", "t"); arg("cost_usd", {cost}); arg("runs", {}); {more}"#,
            runs * 1_000_000
        );
        assert_eq!(
            biscuit_allows(&token, tool, project, &args),
            expected,
            "biscuit {tool} {project} {cost} {runs} {other}"
        );
        let mut args = vec![
            ("project", project.into()),
            ("task_id", "t".into()),
            ("cost_usd", (f64::from(cost) / 1e6).into()),
            ("runs", ConstraintValue::Integer(runs)),
        ];
        if other {
            args.push(("other", 1_i64.into()));
        }
        assert_eq!(
            tenuo_allows(&warrant, tool, &args),
            expected,
            "tenuo {tool} {project} {cost} {runs} {other}"
        );
    }
}

#[test]
fn what_no_format_can_carry_is_refused_with_its_link() {
    let both = |links: &[Link<'_>]| {
        let chain = chain(links);
        [
            warrants::export(&chain, &order(), &issuer()).map(|_| Format::Tenuo),
            biscuit::export(&chain, &order(), &issuer()).map(|_| Format::Biscuit),
        ]
    };
    for result in both(&[(&["*@project:web"], &[], 1), (&["task.read@project:web"], &[], 0)]) {
        assert!(matches!(result, Err(ExportError::PatternAction { link: 0, .. })), "{result:?}");
    }
    for result in both(&[(&["task.read@project:web", "deploy"], &[], 1)]) {
        assert!(matches!(result, Err(ExportError::OpaqueScope { link: 0, .. })), "{result:?}");
    }
    let [tenuo, biscuit] = both(&[(&["tenuo:x@project:web"], &[], 1)]);
    assert!(matches!(tenuo, Err(ExportError::ReservedTool { link: 0, .. })), "{tenuo:?}");
    assert!(biscuit.is_ok());
    let [tenuo, biscuit] = both(&[(READ_WORK, &[], 1), (READ_WORK, &[("runs", "1")], 0)]);
    assert!(matches!(tenuo, Err(ExportError::LimitAddedBelow { link: 1, .. })), "{tenuo:?}");
    assert!(biscuit.is_ok());
}

#[test]
fn c4_an_amount_that_a_format_cannot_carry_exactly_is_refused() {
    // (amount, exact in Tenuo); every amount is exact in Biscuit.
    let amounts = [
        ("9007199254.740991", false),
        ("8589934592", true),
        ("8589934591.999999", true),
        ("9007199254.740992", false),
        ("9223372036854.775807", false),
        ("0.000001", true),
        ("0", true),
    ];
    for (amount, exact) in amounts {
        let chain = chain(&[(READ_WORK, &[("runs", amount)], 1)]);
        let tenuo = warrants::export(&chain, &order(), &issuer());
        assert_eq!(tenuo.is_ok(), exact, "{amount}: {tenuo:?}");
        if !exact {
            assert!(matches!(tenuo, Err(ExportError::InexactAmount { link: 0, .. })));
        }
        assert!(biscuit::export(&chain, &order(), &issuer()).is_ok(), "{amount}");
    }
}

#[test]
fn nothing_is_built_on_a_revoked_or_changed_record() {
    let mut records = records(&[(READ_WORK, &[], 1), (READ_WORK, &[], 0)], 3600);
    assert!(UnrevokedChain::verify(&records, &ring(), now()).is_ok());
    let end = records[0].expires_at;
    assert!(UnrevokedChain::verify(&records, &ring(), end).is_err(), "expired");
    records[0].revoked_at = Some(now());
    let error = UnrevokedChain::verify(&records, &ring(), now()).unwrap_err();
    assert!(matches!(error, crate::chain::NotUnrevoked::Revoked { mandate, .. } if mandate == id(1)));
    records[0].revoked_at = None;
    records[1].holder = "agent-9".parse().unwrap();
    let error = UnrevokedChain::verify(&records, &ring(), now()).unwrap_err();
    assert!(matches!(error, crate::chain::NotUnrevoked::RecordMismatch(mandate) if mandate == id(2)));
}
