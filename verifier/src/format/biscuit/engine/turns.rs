//! A bounded number of turns at once, and a bounded number of callers that wait for one.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::BiscuitFault;

/// The turns.
pub(super) struct Turns {
    most: usize,
    may_wait: usize,
    longest: Duration,
    now: Mutex<Counts>,
    freed: Condvar,
}

#[derive(Default)]
struct Counts {
    running: usize,
    waiting: usize,
}

/// One turn; it ends when this is dropped, also by a panic.
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    /// `most` at once, `may_wait` behind them, none of them longer than `longest`.
    pub(super) fn new(most: usize, may_wait: usize, longest: Duration) -> Turns {
        Turns { most, may_wait, longest, now: Mutex::default(), freed: Condvar::new() }
    }

    /// A turn, at once or after waiting.
    pub(super) fn take(&self) -> Result<Turn<'_>, BiscuitFault> {
        let mut now = self.counts();
        if now.running >= self.most {
            if now.waiting >= self.may_wait {
                return Err(BiscuitFault::EngineBusy);
            }
            now.waiting += 1;
            let full = |counts: &mut Counts| counts.running >= self.most;
            let waited = self.freed.wait_timeout_while(now, self.longest, full);
            now = waited.unwrap_or_else(PoisonError::into_inner).0;
            now.waiting -= 1;
            if now.running >= self.most {
                return Err(BiscuitFault::EngineBusy);
            }
        }
        now.running += 1;
        Ok(Turn(self))
    }

    /// The counts are whole after any panic: nothing is done under the lock but counting.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut now = self.0.counts();
        now.running -= 1;
        if now.waiting > 0 {
            self.0.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn c3_when_all_turns_and_all_places_are_taken_the_next_is_refused() {
        let turns = Turns::new(1, 0, SHORT);
        let turn = turns.take().unwrap();
        assert_eq!(turns.take().err(), Some(BiscuitFault::EngineBusy));
        drop(turn);
        assert!(turns.take().is_ok());
    }

    #[test]
    fn c3_nobody_waits_for_ever() {
        let turns = Turns::new(1, 1, SHORT);
        let _turn = turns.take().unwrap();
        assert_eq!(turns.take().err(), Some(BiscuitFault::EngineBusy));
        assert_eq!(turns.counts().waiting, 0);
    }

    #[test]
    fn a_caller_that_waits_gets_the_turn_that_ends() {
        let turns = Turns::new(1, 1, Duration::from_mins(1));
        let turn = turns.take().unwrap();
        thread::scope(|scope| {
            let (send, done) = mpsc::channel();
            let turns = &turns;
            scope.spawn(move || {
                let taken = turns.take().is_ok();
                send.send(taken).unwrap();
            });
            while turns.counts().waiting == 0 {
                thread::yield_now();
            }
            drop(turn);
            assert!(done.recv().unwrap());
        });
    }

    #[test]
    fn a_panic_in_a_turn_ends_it() {
        let turns = Turns::new(1, 0, SHORT);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _turn = turns.take().unwrap();
            panic!("as the engine might");
        }));
        assert!(result.is_err());
        assert!(turns.take().is_ok());
    }
}
