//! Calls under tokens.

use super::forge::*;
use crate::format::biscuit::BiscuitFault;

#[test]
fn c3_the_exported_shape_allows_what_it_grants_and_nothing_else() {
    let token = pact();
    let allowed = call("task.read", &[("project", r#""web""#), ("cost_usd", "1"), ("task_id", r#""t-1""#)]);
    assert_eq!(judge(&token, &allowed, NOW), Ok(()));
    let failed = |call, block, check| {
        assert_eq!(judge(&token, &call, NOW), Err(BiscuitFault::CheckFailed { block, check }));
    };
    failed(call("task.work", &[("project", r#""web""#), ("cost_usd", "1")]), 1, 0);
    failed(call("task.read", &[("project", r#""api""#), ("cost_usd", "1")]), 0, 0);
    failed(call("task.read", &[("project", r#""web""#), ("cost_usd", "1.0000001")]), 1, 1);
    failed(call("task.read", &[("project", r#""web""#)]), 0, 1);
    failed(call("task.read", &[("project", r#""web""#), ("cost_usd", "1"), ("other", "1")]), 1, 3);
}
