//! Climbs the ladder rung by rung, and keeps what each found.

use pact_mandate::Now;
use pact_verifier::{HeldChain, LiveChain, Permit, Refusal, VerifiedChain};

use super::{
    inputs::Inputs,
    verdict::{Credential, List, Verdict},
    words,
};

/// Judges, and tells how far it came.
pub(crate) fn judge(inputs: Inputs, now: Now) -> Verdict {
    let mut verdict = Verdict::at(now, inputs.single_use, inputs.refused_lists.clone());
    match climb(inputs, now, &mut verdict) {
        Ok(_) => verdict.permit(),
        Err(refusal) => verdict.refuse(&refusal),
    }
    verdict
}

fn climb(inputs: Inputs, now: Now, verdict: &mut Verdict) -> Result<Permit, Refusal> {
    let call = inputs.call();
    let (presented, proof) = inputs.carried?;
    verdict.step(0, format!("size and text form are in order ({})", presented.unverified_hint()));
    let chain = VerifiedChain::open(presented, &inputs.trust, &inputs.cache, now)?;
    verdict.credential = Some(Credential::of(&chain));
    verdict.step(1, words::verified(&chain));
    // A call that the policy does not map is refused here, after the credential is known to be one.
    let call = call?;
    verdict.step(
        2,
        format!("the policy takes the tool {} for the action {}", call.asked.tool, call.judged.action),
    );
    let held = HeldChain::prove(chain, &proof, call, &inputs.policy, &inputs.audience, now)?;
    verdict.step(2, words::held(held.chain()));
    let live = LiveChain::check(held, &inputs.lists, now)?;
    verdict.list = Some(List::of(live.asked()));
    verdict.step(3, words::live(live.asked()));
    let permit = Permit::grant(live, &inputs.policy, inputs.replay.as_ref(), now)?;
    verdict.step(4, words::permit(&permit, verdict.single_use));
    Ok(permit)
}
