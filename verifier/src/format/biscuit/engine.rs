//! The engine: `biscuit-auth` judges an admitted token's Datalog, behind the only door in this crate to it.
//!
//! Evaluations run on the caller's thread, at most as many at once as there are cores; the structural limits make each
//! of them short, so that handing it to another thread would cost more than it saves. Beyond that number they wait
//! their turn, a bounded number of them for a bounded time, and past the bound they are refused. A panic in the crate
//! is a refusal like any other.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
    thread::available_parallelism,
    time::Duration,
};

use biscuit_auth::{AuthorizerBuilder, AuthorizerLimits, Biscuit, builder::Fact, error};

use self::turns::Turns;
use super::fault::BiscuitFault;
use crate::limits::{EVALUATION_SECONDS, MAX_WAITING_EVALUATIONS};

mod turns;

/// What a right in the authority block means, and that nothing else allows anything (board rule 5.3).
const POLICIES: [&str; 2] = ["allow if tool($t), project($p), right($p, $t)", "deny if true"];
/// The engine's own limits, wide (see [`EVALUATION_SECONDS`]): structure bounds the work.
const MAX_ENGINE_FACTS: u64 = 1_000_000;
const MAX_ENGINE_ITERATIONS: u64 = 1_000;

/// The prepared policy.
static POLICY: LazyLock<Result<AuthorizerBuilder, error::Token>> = LazyLock::new(|| {
    let builder = AuthorizerBuilder::new().set_limits(wide_limits());
    POLICIES.into_iter().try_fold(builder, AuthorizerBuilder::policy)
});

/// The turns of this process.
static TURNS: LazyLock<Turns> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Turns::new(cores, MAX_WAITING_EVALUATIONS, Duration::from_secs(EVALUATION_SECONDS))
});

/// What the engine has against a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// A check does not pass.
    Check {
        /// Of which block.
        block: usize,
        /// Which.
        check: usize,
    },
    /// The authority block grants no such right.
    Grant,
    /// A statement could not be evaluated.
    Evaluation,
}

/// Whether the token allows a request of these facts. A doubt that is not certain, because the facts are not all of the
/// request, is none.
pub(super) fn judge(
    token: &Biscuit,
    request: Vec<Fact>,
    is_certain: impl Fn(Doubt) -> bool,
) -> Result<(), BiscuitFault> {
    let policy = POLICY.as_ref().map_err(|_| BiscuitFault::Unreadable)?.clone();
    let builder = request.into_iter().try_fold(policy, AuthorizerBuilder::fact);
    let builder = builder.map_err(|_| BiscuitFault::Unreadable)?;
    match evaluate(builder, token)? {
        Ok(0) => Ok(()),
        Ok(_) => doubted(vec![Doubt::Grant], is_certain),
        Err(error) => doubted(doubts(&error)?, is_certain),
    }
}

/// Plays an authorizer against a token, in turn: the index of the policy that matched, or the crate's own reason.
pub(super) fn evaluate(
    builder: AuthorizerBuilder,
    token: &Biscuit,
) -> Result<Result<usize, error::Token>, BiscuitFault> {
    let _turn = TURNS.take()?;
    guarded(|| builder.build(token)?.authorize())
}

/// Limits that no admitted token reaches.
pub(super) fn wide_limits() -> AuthorizerLimits {
    AuthorizerLimits {
        max_facts: MAX_ENGINE_FACTS,
        max_iterations: MAX_ENGINE_ITERATIONS,
        max_time: Duration::from_secs(EVALUATION_SECONDS),
    }
}

/// Runs a piece of the crate; a panic in it is a refusal.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, BiscuitFault> {
    // Whatever the work held is dropped with it, so nothing half-changed is seen afterwards.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| BiscuitFault::EnginePanicked)
}

/// Everything that speaks against the request, checks first.
fn doubts(error: &error::Token) -> Result<Vec<Doubt>, BiscuitFault> {
    use biscuit_auth::error::{FailedCheck, Logic, MatchedPolicy, Token};
    let (checks, is_granted) = match error {
        Token::FailedLogic(Logic::Unauthorized { checks, policy }) => {
            (checks, matches!(policy, MatchedPolicy::Allow(_)))
        }
        Token::FailedLogic(Logic::NoMatchingPolicy { checks }) => (checks, false),
        Token::Execution(_) => return Ok(vec![Doubt::Evaluation]),
        Token::RunLimit(_) => return Err(BiscuitFault::EngineLimit),
        _ => return Err(BiscuitFault::Unreadable),
    };
    let doubt = |check: &FailedCheck| match check {
        FailedCheck::Block(failed) => Some(Doubt::Check {
            block: usize::try_from(failed.block_id).ok()?,
            check: usize::try_from(failed.check_id).ok()?,
        }),
        FailedCheck::Authorizer(_) => None,
    };
    let mut doubts: Vec<Doubt> = checks.iter().filter_map(doubt).collect();
    if !is_granted || doubts.is_empty() {
        doubts.push(Doubt::Grant);
    }
    Ok(doubts)
}

fn doubted(doubts: Vec<Doubt>, is_certain: impl Fn(Doubt) -> bool) -> Result<(), BiscuitFault> {
    match doubts.into_iter().find(|doubt| is_certain(*doubt)) {
        None => Ok(()),
        Some(Doubt::Check { block, check }) => Err(BiscuitFault::CheckFailed { block, check }),
        Some(Doubt::Grant) => Err(BiscuitFault::NotGranted),
        Some(Doubt::Evaluation) => Err(BiscuitFault::NotEvaluable),
    }
}
