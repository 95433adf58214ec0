//! The script that judges and records a proof inside the server: how it is asked, and what it answers.

use pact_mandate::UnixTime;
use pact_verifier::{
    limits::{
        FUTURE_SKEW_SECONDS, MAX_CLEARED_PER_CALL, MAX_CLOCK_BEHIND_SECONDS, MAX_PROOFS,
        MAX_PROOFS_PER_GRANT, MAX_PROOFS_PER_HOLDER,
    },
    replay::{ProofId, ReplayFault},
};

use super::{
    fault::SharedFault,
    resp::{self, Reply},
};
use crate::limits::{SHARED_CLOCKS_APART_SECONDS, SHARED_KEEP_SECONDS};

/// What the server runs.
pub(super) const SCRIPT: &str = include_str!("record.lua");

/// A proof as the server remembers it: half of the holder's key and half of the proof's id, which are as hard to meet as
/// a digest of that length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    name: [u8; 32],
    grant: [u8; 16],
    first_use: UnixTime,
    ends_at: UnixTime,
}

/// How many proofs the server remembers, in all, of one holder and below one grant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) proofs: usize,
    pub(super) per_holder: usize,
    pub(super) per_grant: usize,
}

/// The names of what the server keeps for us, in one slot of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Names([String; 5]);

/// How much of which unbroken record was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch {
    pub(super) id: Vec<u8>,
    /// Counts what was ever recorded in it.
    pub(super) serial: u64,
}

/// One question to the script.
pub(super) struct Question<'a> {
    /// Comes back in the answer, so that no answer is taken for another's.
    pub(super) ticket: u64,
    /// `None` only looks.
    pub(super) used: Option<&'a Used>,
    pub(super) now: UnixTime,
    pub(super) seen: &'a Epoch,
}

/// What the script answered, once there was an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    word: Word,
    pub(super) since: UnixTime,
    pub(super) held: usize,
    floor: UnixTime,
    pub(super) epoch: Epoch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Looked,
    Recorded,
    Replayed,
    Before,
    Forgotten,
    Holder,
    Grant,
    Full,
}

impl Bounds {
    /// Those of the store in a folder.
    pub(super) const USUAL: Bounds =
        Bounds { proofs: MAX_PROOFS, per_holder: MAX_PROOFS_PER_HOLDER, per_grant: MAX_PROOFS_PER_GRANT };
}

impl Names {
    pub(super) fn new(prefix: &str) -> Names {
        Names(
            ["epoch", "ends", "used", "holders", "grants"].map(|name| format!("{{{prefix}}}:replay:{name}")),
        )
    }
}

impl Used {
    pub(super) fn of(proof: &ProofId) -> Used {
        let halves = proof.holder().as_bytes().iter().take(16).chain(proof.id().iter().take(16));
        let mut name = [0; 32];
        name.iter_mut().zip(halves).for_each(|(to, from)| *to = *from);
        Used {
            name,
            grant: *proof.grant().as_bytes(),
            first_use: proof.first_use(),
            ends_at: proof.ends_at(),
        }
    }
}

impl Question<'_> {
    /// As a command. `digest` names the script, as the server does.
    pub(super) fn to_command(&self, digest: &[u8], names: &Names, bounds: Bounds) -> Vec<u8> {
        let numbers = [
            self.ticket,
            self.now.seconds(),
            SHARED_CLOCKS_APART_SECONDS,
            FUTURE_SKEW_SECONDS,
            MAX_CLOCK_BEHIND_SECONDS,
            number(bounds.proofs),
            number(bounds.per_holder),
            number(bounds.per_grant),
            number(MAX_CLEARED_PER_CALL),
            SHARED_KEEP_SECONDS,
        ]
        .map(|number| number.to_string());
        let serial = self.seen.serial.to_string();
        let times =
            self.used.map(|used| [used.first_use, used.ends_at].map(|time| time.seconds().to_string()));
        let mut parts: Vec<&[u8]> = vec![b"EVALSHA", digest, b"5"];
        parts.extend(names.0.iter().map(String::as_bytes));
        parts.extend(numbers.iter().map(String::as_bytes));
        parts.extend([self.seen.id.as_slice(), serial.as_bytes()]);
        if let (Some(used), Some(times)) = (self.used, &times) {
            parts.extend([used.name.as_slice(), used.grant.as_slice()]);
            parts.extend(times.iter().map(String::as_bytes));
        }
        resp::command(&parts)
    }

    /// What a reply says to this question.
    pub(super) fn read(&self, reply: Reply) -> Result<Answer, SharedFault> {
        let parts = match reply {
            Reply::List(parts) => parts,
            Reply::Error(text) => return Err(SharedFault::of_error(&text)),
            _ => return Err(SharedFault::Garbage),
        };
        let mut parts = parts.into_iter();
        let (Some(Reply::Text(ticket)), Some(Reply::Text(word))) = (parts.next(), parts.next()) else {
            return Err(SharedFault::Garbage);
        };
        if ticket != self.ticket.to_string().as_bytes() {
            return Err(SharedFault::Garbage);
        }
        let word = Word::read(&word)?;
        if (word == Word::Looked) != self.used.is_none() {
            return Err(SharedFault::Garbage);
        }
        let mut number = || match parts.next() {
            Some(Reply::Number(number)) => u64::try_from(number).map_err(|_| SharedFault::Garbage),
            _ => Err(SharedFault::Garbage),
        };
        let [since, held, floor] = [number()?, number()?, number()?];
        let (Some(Reply::Text(id)), Some(Reply::Number(serial)), None) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(SharedFault::Garbage);
        };
        let serial = u64::try_from(serial).map_err(|_| SharedFault::Garbage)?;
        Ok(Answer {
            word,
            since: time(since)?,
            held: usize::try_from(held).map_err(|_| SharedFault::Garbage)?,
            floor: time(floor)?,
            epoch: Epoch { id, serial },
        })
    }
}

impl Answer {
    /// Whether the proof counts. An answer to a question without one never says yes.
    pub(super) fn verdict(&self, used: &Used, bounds: Bounds) -> Result<(), ReplayFault> {
        match self.word {
            Word::Recorded => Ok(()),
            Word::Replayed => Err(ReplayFault::Replayed),
            Word::Before => Err(ReplayFault::BeforeStore { first_use: used.first_use, since: self.since }),
            Word::Forgotten => Err(ReplayFault::Forgotten { ends_at: used.ends_at, floor: self.floor }),
            Word::Holder => Err(ReplayFault::QuotaReached { limit: bounds.per_holder }),
            Word::Grant => Err(ReplayFault::GrantQuotaReached { limit: bounds.per_grant }),
            Word::Full => Err(ReplayFault::Full { limit: bounds.proofs }),
            Word::Looked => Err(ReplayFault::Failed(SharedFault::Garbage.into())),
        }
    }
}

impl Word {
    fn read(word: &[u8]) -> Result<Word, SharedFault> {
        match word {
            b"looked" => Ok(Word::Looked),
            b"recorded" => Ok(Word::Recorded),
            b"replayed" => Ok(Word::Replayed),
            b"before" => Ok(Word::Before),
            b"forgotten" => Ok(Word::Forgotten),
            b"holder" => Ok(Word::Holder),
            b"grant" => Ok(Word::Grant),
            b"full" => Ok(Word::Full),
            b"replica" => Err(SharedFault::ReadOnly),
            b"apart" => Err(SharedFault::ClocksApart),
            b"eviction" => Err(SharedFault::Eviction),
            b"behind" => Err(SharedFault::ClockBehind),
            _ => Err(SharedFault::Garbage),
        }
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn time(seconds: u64) -> Result<UnixTime, SharedFault> {
    UnixTime::try_from(seconds).map_err(|_| SharedFault::Garbage)
}
