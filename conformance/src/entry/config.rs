//! Files that an operator writes.

use pact_verifier::Policy;

use super::{Answer, reason};
use crate::golden::call;

/// A policy file; one that is read must judge the golden call, whichever way.
///
/// # Panics
///
/// When the policy refuses the call that it judged itself.
pub fn config(bytes: &[u8]) -> Answer {
    let text = std::str::from_utf8(bytes).map_err(reason)?;
    let policy = Policy::from_toml(text).map_err(reason)?;
    if let Ok(call) = policy.judge(call::asked().map_err(reason)?) {
        assert_eq!(policy.permits(&call), Ok(()), "a policy refuses what it judged");
    }
    Ok(())
}
