//! Limits of a credential that a tool has no argument for.

use pact_verifier::refusal::Class;

use crate::{biscuit, tenuo, world::*};

/// Both credentials limit `cost_usd`, of which the tool says nothing.
const BARE: &str =
    "[tools.read_file]\naction = \"task.read\"\nproject = { const = \"web\" }\nunjudged = [\"path\"]\n";

fn in_each_format(story: impl Fn(World, Credential)) {
    let (credential, now) = tenuo::mint();
    story(World::new(now), credential);
    story(World::new(biscuit::start()), biscuit::mint(Some(AGENT)));
}

fn under(world: &mut World, text: &str) {
    world.verifier = world.verifier.with_policy(policy(text));
}

#[test]
fn m1_a_limit_that_nothing_maps_is_refused_by_the_same_code_in_each_format() {
    in_each_format(|mut world, credential| {
        under(&mut world, BARE);
        let refused = world.call(&credential, "read_file", "{}").unwrap_err();
        assert_eq!(
            (refused.code(), refused.class(), refused.rung()),
            ("limit_unmapped", Class::Forbidden, 4)
        );
        let said = refused.to_string();
        assert!(said.contains("limits cost_usd") && said.contains("cost_usd = … to [limits]"), "{said}");
    });
}

#[test]
fn m1_the_files_value_of_a_limit_is_judged_like_an_argument() {
    in_each_format(|mut world, credential| {
        under(&mut world, &format!("[limits]\ncost_usd = 2.5\n{BARE}"));
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        under(&mut world, &format!("[limits]\ncost_usd = 2.6\n{BARE}"));
        let code = world.code(&credential, "read_file", "{}");
        assert!(["tenuo_outside_constraint", "biscuit_check_failed"].contains(&code), "{code}");
        // A limit that the credential does not set is not stated: its closed list of arguments would refuse it.
        under(&mut world, &format!("[limits]\ncost_usd = 2.5\nruns = 1\nturns = 9\n{BARE}"));
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
    });
}

#[test]
fn m1_an_argument_that_was_left_out_is_not_made_up() {
    in_each_format(|mut world, credential| {
        let own = format!("[limits]\ncost_usd = 1\n{BARE}args = {{ cost_usd = {{ arg = \"cost\" }} }}");
        under(&mut world, &own);
        assert_eq!(world.code(&credential, "read_file", r#"{"cost":2}"#), "permit");
        let code = world.code(&credential, "read_file", "{}");
        assert!(["tenuo_argument_missing", "biscuit_check_failed"].contains(&code), "{code}");
    });
}

/// A statement that would not bind, because nothing is said of its argument, is a limit that nothing maps.
#[test]
fn c3_a_reject_of_an_argument_that_nothing_maps_is_refused() {
    let mut world = World::new(biscuit::start());
    let statement = r#"reject if arg("runs", $v), $v > 1000000;"#;
    let credential = biscuit::mint_from(Some(AGENT), statement);
    assert_eq!(world.code(&credential, "read_file", "{}"), "limit_unmapped");
    let last = "\n[tools.run]\naction = \"task.read\"\nproject = { const = \"web\" }\nargs = { cost_usd = { const = 0 } }";
    under(&mut world, &format!("[limits]\nruns = 2{last}"));
    // Stated, it binds. (The last block of the token takes no argument but its cost.)
    assert_eq!(world.code(&credential, "run", "{}"), "biscuit_check_failed");
}
