//! The keys `sidecar.…` of `cargo ratios`.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use tokio::runtime::Runtime;

use super::{
    calls::{Call, Callers, Credentials},
    contest::Contest,
    hosted::Hosted,
    load::flood,
    memory::growth,
    paced::p99,
    stand::Stand,
    stream::events_per_second,
};
use crate::world::{Failure, World};

/// Rounds of throughput, and the calls of one slice: some tenths of a second.
const ROUNDS: usize = 24;
const WARM_CALLS: usize = 3000;
const COLD_CALLS: usize = 1000;
/// Rounds of waiting times, and the calls of one slice: twenty are slower than its 99th percentile.
const PACED_ROUNDS: usize = 15;
const PACED_CALLS: usize = 2000;
/// Rounds of streams.
const STREAM_ROUNDS: usize = 9;

/// Who takes part in throughput, by their numbers in the contest.
const PASS: usize = 0;
const ONE: usize = 1;
const WARM: usize = 2;
const FIVE: usize = 3;
const COLD: usize = 4;

/// One measuring.
struct Bench<'a> {
    stand: Stand<'a>,
    sidecar: Hosted,
    runtime: Runtime,
    callers: Callers<'a>,
    told: &'a dyn Fn(&str),
}

/// Measures them all. `program` is the `hosted` binary; `told` takes the absolute numbers, for the person who watches.
pub fn measure(
    world: &World,
    program: &Path,
    folder: &Path,
    told: &dyn Fn(&str),
) -> Result<BTreeMap<&'static str, f64>, Failure> {
    let stand = Stand::start(world, program, folder)?;
    let sidecar = stand.sidecar("measured")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut bench = Bench { stand, sidecar, runtime, callers: Callers::new(world)?, told };
    let throughput = bench.throughput()?;
    let grown = bench.memory()?;
    let waiting = bench.waiting(throughput.median(WARM) / 2.0)?;
    Ok(BTreeMap::from([
        ("sidecar.rps", throughput.ratio(WARM, PASS)),
        ("sidecar.vs_floor", throughput.ratio(WARM, ONE)),
        ("sidecar.cold", throughput.ratio(COLD, FIVE)),
        ("sidecar.p99", waiting.sidecar),
        ("sidecar.p99.floor", waiting.floor),
        ("sidecar.rss", grown.whole),
        ("sidecar.rss.last_third", grown.last_third),
        ("sidecar.stream", bench.stream()?),
    ]))
}

/// 99th percentiles ÷ that of the pass-through, at one rate.
struct Waiting {
    sidecar: f64,
    /// Of the proxy that does one JSON parse and one verification.
    floor: f64,
}

impl Bench<'_> {
    fn throughput(&mut self) -> Result<Contest, Failure> {
        let Bench { stand, sidecar, runtime, callers, told } = self;
        // The bare proxies take the calls that the sidecar takes: it alone remembers them.
        let prepare = || -> Result<[Arc<[Call]>; 2], Failure> {
            let warm = callers.sign(WARM_CALLS, Credentials::Known, "work")?;
            Ok([warm.into(), callers.sign(COLD_CALLS, Credentials::New, "work")?.into()])
        };
        let contest = Contest::of(ROUNDS, 5, prepare, |who, [warm, cold]| match who {
            PASS => flood(runtime, stand.pass.address, warm),
            ONE => flood(runtime, stand.one.address, warm),
            WARM => flood(runtime, sidecar.address, warm),
            FIVE => flood(runtime, stand.five.address, cold),
            _ => flood(runtime, sidecar.address, cold),
        })?;
        for (who, name) in
            ["pass-through", "one verify", "sidecar", "five verifies", "sidecar, new credentials"]
                .iter()
                .enumerate()
        {
            told(&format!("{name}: {:.0} requests/s", contest.median(who)));
        }
        Ok(contest)
    }

    fn waiting(&mut self, rate: f64) -> Result<Waiting, Failure> {
        let Bench { stand, sidecar, runtime, callers, told } = self;
        let prepare = || Ok(Arc::<[Call]>::from(callers.sign(PACED_CALLS, Credentials::Known, "work")?));
        let contest = Contest::of(PACED_ROUNDS, 3, prepare, |who, calls| {
            let to = match who {
                PASS => stand.pass.address,
                ONE => stand.one.address,
                _ => sidecar.address,
            };
            p99(runtime, to, calls, rate)
        })?;
        let microseconds = |who| contest.median(who) * 1e6;
        told(&format!(
            "p99 at {rate:.0} requests/s: pass-through {:.0} µs, one verify {:.0} µs, sidecar {:.0} µs",
            microseconds(PASS),
            microseconds(ONE),
            microseconds(WARM)
        ));
        Ok(Waiting {
            sidecar: contest.median(WARM) / contest.median(PASS),
            floor: contest.median(ONE) / contest.median(PASS),
        })
    }

    fn stream(&mut self) -> Result<f64, Failure> {
        let Bench { stand, sidecar, callers, told, .. } = self;
        let prepare = || {
            let calls = callers.sign(1, Credentials::Known, "watch")?;
            Ok(calls.into_iter().next().ok_or("no call")?)
        };
        let contest = Contest::of(STREAM_ROUNDS, 2, prepare, |who, call| {
            events_per_second(if who == 0 { stand.tools.address } else { sidecar.address }, call)
        })?;
        told(&format!(
            "one stream: direct {:.0} events/s, through the sidecar {:.0}",
            contest.median(0),
            contest.median(1)
        ));
        Ok(contest.ratio(1, 0))
    }

    fn memory(&mut self) -> Result<super::memory::Growth, Failure> {
        // A process of its own, that did nothing before.
        let sidecar = self.stand.sidecar("memory")?;
        growth(&self.runtime, &sidecar, &mut self.callers)
    }
}
