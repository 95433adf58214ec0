//! Interleaved rounds: every loop runs a slice in each round, so that a slow second of the machine hits all of them.

use std::{collections::BTreeMap, time::Instant};

/// One thing that is measured: `run` does it once, on the `n`-th prepared input, and asserts the verdict.
pub struct Loop<'a> {
    name: &'static str,
    runs_per_round: usize,
    run: Box<dyn FnMut(usize) + 'a>,
}

/// The median time of one run of each loop, in nanoseconds.
pub struct Medians(BTreeMap<&'static str, f64>);

impl<'a> Loop<'a> {
    /// A loop that does `runs_per_round` runs in each round; `run` is told how many runs came before.
    pub fn new(name: &'static str, runs_per_round: usize, run: impl FnMut(usize) + 'a) -> Loop<'a> {
        Loop { name, runs_per_round, run: Box::new(run) }
    }
}

impl Medians {
    /// Runs all loops in `rounds` rounds, after one round that is not counted.
    pub fn of(rounds: usize, mut loops: Vec<Loop<'_>>) -> Medians {
        let mut times: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
        for round in 0..=rounds {
            for measured in &mut loops {
                let nanoseconds = measured.time(round * measured.runs_per_round);
                if round > 0 {
                    times.entry(measured.name).or_default().push(nanoseconds);
                }
            }
        }
        Medians(times.into_iter().map(|(name, times)| (name, median(times))).collect())
    }

    /// The median of that loop, in nanoseconds; not a number when there is no such loop.
    pub fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }

    /// All of them by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter().map(|(name, time)| (*name, *time))
    }
}

impl Loop<'_> {
    #[expect(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
    fn time(&mut self, first: usize) -> f64 {
        let start = Instant::now();
        for run in first..first + self.runs_per_round {
            (self.run)(run);
        }
        let count = u32::try_from(self.runs_per_round).unwrap_or(u32::MAX);
        start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
    }
}

/// The middle one; not a number when there is none.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
