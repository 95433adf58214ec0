//! Lists of tools, filtered by the judgement that calls meet.

use pact_revocation::Lists;
use pact_verifier::Viewer;

use crate::{biscuit, tenuo, world::*};

/// Of what each credential allows: `task.read` in `web` up to a cost of 2.5.
const TOOLS: &str = r#"
[tools.read]
action = "task.read"
project = { arg = "project" }
args = { cost_usd = { arg = "cost" } }

[tools.read_web]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { const = 2.5 } }

[tools.read_some]
action = "task.read"
project = { arg = "path", prefix = { "/shop" = "shop", "/web" = "web" } }
args = { cost_usd = { arg = "cost" } }

[tools.read_shop]
action = "task.read"
project = { const = "shop" }
args = { cost_usd = { arg = "cost" } }

[tools.read_other]
action = "task.read"
project = { arg = "path", prefix = { "/shop" = "shop", "/docs" = "docs" } }
args = { cost_usd = { arg = "cost" } }

[tools.read_dear]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { const = 2.6 } }

[tools.read_limitless]
action = "task.read"
project = { const = "web" }

[tools.write]
action = "task.write"
project = { arg = "project" }
args = { cost_usd = { arg = "cost" } }

[tools.admin]
action = "admin"
project = { arg = "project" }
args = { cost_usd = { arg = "cost" } }
"#;

fn in_each_format(story: impl Fn(World, Credential)) {
    let (credential, now) = tenuo::mint();
    story(World::new(now), credential);
    story(World::new(biscuit::start()), biscuit::mint(Some(AGENT)));
}

fn view(world: &World, credential: &Credential) -> Result<Viewer, &'static str> {
    let viewer = world.verifier.view(credential.presented.clone(), &world.lists, world.now);
    viewer.map_err(|refusal| refusal.code())
}

fn seen(world: &World, viewer: &Viewer) -> Vec<String> {
    let policy = world.verifier.policy();
    let names = policy.tools().map(|(name, _)| name.to_owned());
    names.filter(|name| viewer.sees(name, policy).unwrap()).collect()
}

#[test]
fn m3_a_tool_is_listed_unless_it_is_certain_that_every_call_of_it_is_refused() {
    in_each_format(|mut world, credential| {
        world.verifier = world.verifier.with_policy(policy(TOOLS));
        let viewer = view(&world, &credential).unwrap();
        assert_eq!(seen(&world, &viewer), ["read", "read_some", "read_web"]);
        assert!(!viewer.sees("unmapped", world.verifier.policy()).unwrap());
        world.verifier = world.verifier.with_policy(policy(&format!("[limits]\ncost_usd = 2.5\n{TOOLS}")));
        assert_eq!(seen(&world, &viewer), ["read", "read_limitless", "read_some", "read_web"]);
        world.verifier = world.verifier.with_policy(policy(&format!("[limits]\ncost_usd = 2.6\n{TOOLS}")));
        assert_eq!(seen(&world, &viewer), ["read", "read_some", "read_web"]);
        world.verifier = world.verifier.with_policy(policy("identity = true"));
        let sees = |tool: &str| viewer.sees(tool, world.verifier.policy()).unwrap();
        assert!(sees("task.read") && !sees("task.write") && !sees("admin") && !sees("task.*"));
    });
}

/// The law of the filter: what can be called is seen.
#[test]
fn m3_whatever_call_is_permitted_its_tool_is_seen() {
    in_each_format(|mut world, credential| {
        let mut permitted = 0;
        for limits in ["", "[limits]\ncost_usd = 1\n", "[limits]\ncost_usd = 9\n"] {
            world.verifier = world.verifier.with_policy(policy(&format!("{limits}{TOOLS}")));
            let viewer = view(&world, &credential).unwrap();
            let seen = seen(&world, &viewer);
            let tools: Vec<String> =
                world.verifier.policy().tools().map(|(name, _)| name.to_owned()).collect();
            for tool in tools {
                for arguments in [
                    "{}",
                    r#"{"project":"web","cost":1}"#,
                    r#"{"project":"shop","cost":1}"#,
                    r#"{"path":"/web/a","cost":1}"#,
                    r#"{"path":"/shop/a","cost":1}"#,
                    r#"{"cost":1}"#,
                ] {
                    if world.code(&credential, &tool, arguments) == "permit" {
                        permitted += 1;
                        assert!(seen.contains(&tool), "{tool} {arguments}");
                    }
                }
            }
        }
        assert!(permitted >= 6, "{permitted}");
    });
}

#[test]
fn m3_a_credential_that_would_not_carry_a_call_sees_nothing() {
    in_each_format(|mut world, credential| {
        let lists = std::mem::replace(&mut world.lists, list(world.now, &credential.entries[..1]));
        assert_eq!(view(&world, &credential).unwrap_err(), "revoked");
        world.lists = Lists::none();
        assert_eq!(view(&world, &credential).unwrap_err(), "list_missing");
        world.lists = lists;
        let verifier = world.verifier.clone();
        world.verifier = verifier.with_trust(trust(vec![]));
        assert!(view(&world, &credential).unwrap_err().contains("root"));
        world.verifier = verifier;
        world.now = later(world.now, 3601);
        world.lists = list(world.now, &[]);
        assert!(view(&world, &credential).unwrap_err().contains("expired"));
    });
}

#[test]
fn p8_a_token_without_a_holder_sees_only_where_trust_says_so() {
    let mut world = World::new(biscuit::start());
    let credential = biscuit::mint(None);
    assert_eq!(view(&world, &credential).unwrap_err(), "bearer_refused");
    let mut issuer = issuer();
    issuer.bearer = true;
    world.verifier = world.verifier.with_trust(trust(vec![issuer]));
    assert_eq!(seen(&world, &view(&world, &credential).unwrap()), ["read_file", "task.read"]);
}

/// P6: whoever looks uses nothing up.
#[test]
fn p6_looking_records_no_proof() {
    in_each_format(|world, credential| {
        let call = world.judged("read_file", "{}").unwrap();
        let proof = world.prove(&credential, &call, AGENT);
        view(&world, &credential).unwrap();
        assert!(world.admit(&credential, &proof, call).is_ok());
        assert_eq!(world.verifier.replay().health().held, 1);
    });
}

/// A check that may yet pass hides nothing; one that cannot does.
#[test]
fn c3_what_a_check_looks_at_decides_whether_its_failure_is_certain() {
    let mut world = World::new(biscuit::start());
    world.verifier = world.verifier.with_policy(policy(
        r#"
        [tools.open]
        action = "task.read"
        project = { arg = "project" }
        args = { cost_usd = { arg = "cost" }, runs = { arg = "runs" } }
        [tools.fixed]
        action = "task.read"
        project = { const = "web" }
        args = { cost_usd = { arg = "cost" }, runs = { const = 3 } }
        "#,
    ));
    for (statement, wanted) in [
        // Its last block takes no other argument than the cost, so a constant one is refused for good.
        ("", vec!["open"]),
        (r#"check if arg("runs", $v), $v <= 2000000;"#, vec!["open"]),
        (r#"check if project("shop");"#, vec!["open"]),
        (r#"check if tool("task.write");"#, vec![]),
        (r#"reject if tool("task.read");"#, vec![]),
        (r#"check if arg("cost_usd", $v), $v <= 0 or tool("task.write");"#, vec!["open"]),
        (r#"dear($v) <- arg("cost_usd", $v), $v > 1000000; check if dear($v);"#, vec!["open"]),
    ] {
        let credential = biscuit::mint_from(Some(AGENT), statement);
        assert_eq!(seen(&world, &view(&world, &credential).unwrap()), wanted, "{statement}");
    }
}
