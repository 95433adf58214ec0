//! A credential allows what its mandate permits, no less and no more.

use std::fmt::Write;

use pact_mandate::{Json, Judged, json::Number};
use proptest::prelude::*;

use super::*;

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

/// Scope of the root, scope of the hand-off, limits, the call's tool and project, and its cost.
type Case = (Vec<usize>, Vec<usize>, [u64; 4], (usize, usize), Option<u64>);

/// A root over some tools and projects, a hand-off that narrows it, and a call near the edges of both.
fn narrowed_chain_and_call() -> impl Strategy<Value = Case> {
    let picked = proptest::collection::btree_set(0..TOOLS.len() * PROJECTS.len(), 1..6);
    let limits = prop::array::uniform4(0_u64..4);
    let call = (0..TOOLS.len(), 0..PROJECTS.len());
    (picked, any::<u64>(), limits, call, proptest::option::weighted(0.9, 0_u64..5)).prop_map(
        |(root, mask, limits, call, cost)| {
            let root: Vec<usize> = root.into_iter().collect();
            let kept = |at: &usize| mask >> at & 1 == 1;
            let mut child: Vec<usize> = root.iter().copied().filter(kept).collect();
            if child.is_empty() {
                child.push(root[0]);
            }
            (root, child, limits, call, cost)
        },
    )
}

const TOOLS: [&str; 3] = ["task.read", "task.work", "deploy"];
const PROJECTS: [&str; 3] = ["web", "api", "x-1"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Equality, in both directions: what one form of the authority allows, each other form allows.
    #[test]
    fn whatever_a_mandate_permits_its_credentials_allow_and_nothing_else(
        (root, child, limits, (tool, project), cost) in narrowed_chain_and_call()
    ) {
        let item = |at: &usize| format!("{}@project:{}", TOOLS[at % 3], PROJECTS[at / 3]);
        let scopes: Vec<Vec<String>> = [&root, &child].map(|picked| picked.iter().map(item).collect()).into();
        let scopes: Vec<Vec<&str>> =
            scopes.iter().map(|scope| scope.iter().map(String::as_str).collect()).collect();
        // Halves, so that amounts are no whole numbers. The child may leave its limit out.
        let half = |number: u64| pact_mandate::Amount::from_millionths(number * 500_000).unwrap();
        let most = [limits[0], limits[0].min(limits[1])].map(|number| half(number).to_string());
        let own: Vec<(&str, &str)> = if limits[2] == 0 { Vec::new() } else { vec![("cost", &most[1])] };
        let chain = chain(&[(&scopes[0], &[("cost", &most[0])], 1), (&scopes[1], &own, 0)]);

        let mut arguments = std::collections::BTreeMap::from([
            ("project".to_owned(), Json::String(PROJECTS[project].to_owned())),
            ("task_id".to_owned(), Json::String("t".to_owned())),
        ]);
        let mut facts = String::from(r#"arg("task_id", "t");"#);
        let mut values: Vec<(&str, ConstraintValue)> =
            vec![("project", PROJECTS[project].into()), ("task_id", "t".into())];
        if let Some(cost) = cost.map(half) {
            arguments.insert("cost".to_owned(), Json::Number(Number::from_text(&cost.to_string()).unwrap()));
            write!(facts, r#" arg("cost", {});"#, cost.millionths()).unwrap();
            values.push(("cost", cost.to_string().parse::<f64>().unwrap().into()));
        }
        let call = Judged { action: TOOLS[tool].parse().unwrap(), arguments };
        let permitted = chain.chain().permits(&call).is_ok();

        let token = release(biscuit::export(&chain, &order(), &issuer()).unwrap());
        prop_assert_eq!(biscuit_allows(&token, TOOLS[tool], PROJECTS[project], &facts), permitted);
        let warrant = release(warrants::export(&chain, &order(), &issuer()).unwrap());
        prop_assert_eq!(tenuo_allows(&warrant, TOOLS[tool], &values), permitted);
    }
}
