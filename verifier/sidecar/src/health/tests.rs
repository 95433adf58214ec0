use super::*;

/// The record begins at 0; what the policy takes is asked for.
fn at(seconds: u64, stock_proofs: bool) -> ReplayView {
    let policy = format!("identity = true\nstock_proofs = {stock_proofs}");
    let policy = Policy::from_toml(&policy).unwrap();
    let health = ReplayHealth { since: UnixTime::EPOCH, held: 0, limit: 1, failed: None };
    ReplayView::of(health, None, &policy, UnixTime::try_from(seconds).unwrap())
}

/// A new record refuses proofs that it could have missed: those of a stock client for longer, as they are looser in time.
#[test]
fn p7_the_store_is_ready_when_every_kind_of_proof_counts_that_the_policy_takes() {
    for (seconds, fresh_only, stock_too) in
        [(5, false, false), (6, true, false), (89, true, false), (90, true, true)]
    {
        assert_eq!((at(seconds, false).ok, at(seconds, true).ok), (fresh_only, stock_too), "{seconds} s");
    }
    let reason = |view: ReplayView| view.reason.unwrap();
    assert_eq!(reason(at(5, true)), "new: proofs count when they are made from 1970-01-01T00:00:06Z on");
    assert_eq!(
        reason(at(6, true)),
        "new: proofs of stock clients count when they are made from 1970-01-01T00:01:30Z on"
    );
}
