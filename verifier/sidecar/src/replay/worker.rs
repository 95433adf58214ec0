//! The thread that speaks to the server: it takes what waits, asks all of it at once and hands the answers out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::{Duration, Instant},
};

use pact_mandate::UnixTime;

use super::{
    fault::SharedFault,
    line::Line,
    script::{Answer, Bounds, Names, Question, Used},
    view::View,
};
use crate::{
    Clock,
    config::RedisConfig,
    limits::{MAX_ASKED_AT_ONCE, SHARED_LOOK, SHARED_RETRY},
};

/// A proof that somebody waits for.
pub(super) struct Job {
    pub(super) used: Used,
    pub(super) now: UnixTime,
    pub(super) answer: SyncSender<Result<Answer, SharedFault>>,
    /// Set when nobody waits any more: then the proof need not be used up.
    pub(super) given_up: Arc<AtomicBool>,
}

pub(super) struct Worker {
    server: RedisConfig,
    names: Names,
    bounds: Bounds,
    clock: Clock,
    view: Arc<View>,
    line: Option<Line>,
    /// Until when it is not tried to connect again, and why.
    resting: Option<(Instant, SharedFault)>,
    tickets: u64,
}

impl Worker {
    pub(super) fn new(server: RedisConfig, bounds: Bounds, clock: Clock, view: Arc<View>) -> Worker {
        let names = Names::new(&server.prefix);
        Worker { server, names, bounds, clock, view, line: None, resting: None, tickets: 0 }
    }

    /// Until nobody can ask any more. When nobody asks, it looks how the record is.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut next_look = Duration::ZERO;
        loop {
            match jobs.recv_timeout(next_look) {
                Ok(first) => {
                    let waiting = std::iter::once(first).chain(jobs.try_iter()).take(MAX_ASKED_AT_ONCE);
                    let wanted: Vec<Job> =
                        waiting.filter(|job| !job.given_up.load(Ordering::Relaxed)).collect();
                    self.serve(&wanted);
                }
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            next_look = SHARED_LOOK;
        }
    }

    fn serve(&mut self, jobs: &[Job]) {
        let asked: Vec<(Option<&Used>, UnixTime)> =
            jobs.iter().map(|job| (Some(&job.used), job.now)).collect();
        let answers = self.ask(&asked);
        for (job, answer) in jobs.iter().zip(answers) {
            // Who has given up is not there to hear it.
            let _ = job.answer.try_send(answer);
        }
    }

    fn look(&mut self) {
        let now = self.clock.now().wall;
        self.ask(&[(None, now)]);
    }

    /// As many answers as questions. What fails as a whole fails for each.
    fn ask(&mut self, asked: &[(Option<&Used>, UnixTime)]) -> Vec<Result<Answer, SharedFault>> {
        let answers = match self.exchange(asked) {
            Ok(answers) => answers,
            Err(fault) => vec![Err(fault); asked.len()],
        };
        for answer in &answers {
            self.view.note(answer);
            if answer.as_ref().is_err_and(|fault| !fault.keeps_the_line()) {
                self.line = None;
            }
        }
        answers
    }

    fn exchange(
        &mut self,
        asked: &[(Option<&Used>, UnixTime)],
    ) -> Result<Vec<Result<Answer, SharedFault>>, SharedFault> {
        let mut line = self.take_line()?;
        let seen = self.view.epoch();
        let questions: Vec<Question<'_>> = asked
            .iter()
            .map(|(used, now)| {
                self.tickets = self.tickets.wrapping_add(1);
                Question { ticket: self.tickets, used: *used, now: *now, seen: &seen }
            })
            .collect();
        let command = |question: &Question<'_>| question.to_command(line.digest(), &self.names, self.bounds);
        let commands: Vec<Vec<u8>> = questions.iter().map(command).collect();
        let replies = line.ask(&commands, self.server.timeout)?;
        self.line = Some(line);
        Ok(questions.iter().zip(replies).map(|(question, reply)| question.read(reply)).collect())
    }

    /// The connection, or a new one. After a failure it rests for a moment and everything is refused at once.
    #[expect(clippy::disallowed_methods, reason = "a server loop: when to connect again")]
    fn take_line(&mut self) -> Result<Line, SharedFault> {
        if let Some(line) = self.line.take() {
            return Ok(line);
        }
        if let Some((until, fault)) = self.resting
            && Instant::now() < until
        {
            return Err(fault);
        }
        let opened = Line::open(&self.server);
        self.resting = opened.as_ref().err().map(|fault| (Instant::now() + SHARED_RETRY, *fault));
        opened
    }
}
