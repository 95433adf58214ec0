//! Rounds of short slices, every contestant in each of them: a slow second of the machine hits all alike, and what is
//! compared was measured within one round.

use crate::{rounds::median, world::Failure};

/// What each contestant did in each round: a rate, or a time.
pub struct Contest(Vec<Vec<f64>>);

impl Contest {
    /// Runs so many rounds after one that does not count, every second one in reverse. `prepare` makes what a round works
    /// on, and `slice` lets one contestant work on it.
    pub fn of<P>(
        rounds: usize,
        contestants: usize,
        mut prepare: impl FnMut() -> Result<P, Failure>,
        slice: impl Fn(usize, &P) -> Result<f64, Failure>,
    ) -> Result<Contest, Failure> {
        let mut measured = Vec::with_capacity(rounds);
        for round in 0..=rounds {
            let prepared = prepare()?;
            let mut row = Vec::with_capacity(contestants);
            for turn in 0..contestants {
                let who = if round % 2 == 0 { turn } else { contestants - 1 - turn };
                row.push((who, slice(who, &prepared)?));
            }
            row.sort_by_key(|(who, _)| *who);
            if round > 0 {
                measured.push(row.into_iter().map(|(_, result)| result).collect());
            }
        }
        Ok(Contest(measured))
    }

    /// The median of what a contestant did.
    pub fn median(&self, who: usize) -> f64 {
        median(self.0.iter().filter_map(|row| row.get(who).copied()).collect())
    }

    /// The median of `who` ÷ `other`, each pair from one round.
    pub fn ratio(&self, who: usize, other: usize) -> f64 {
        median(self.0.iter().filter_map(|row| Some(row.get(who)? / row.get(other)?)).collect())
    }
}
