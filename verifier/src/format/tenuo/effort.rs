//! A bound on the work that somebody else's constraints can cause.

use crate::limits::MAX_COMPARISONS;

/// Comparisons that are left.
#[derive(Debug)]
pub(super) struct Effort(usize);

/// None are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMuchWork;

impl Effort {
    pub(super) fn full() -> Effort {
        Effort(MAX_COMPARISONS)
    }

    /// Takes `comparisons` off before they are made.
    pub(super) fn spend(&mut self, comparisons: usize) -> Result<(), TooMuchWork> {
        self.0 = self.0.checked_sub(comparisons).ok_or(TooMuchWork)?;
        Ok(())
    }
}
