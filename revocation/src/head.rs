//! The head of a list: small, signed often, naming the bodies that never change (protocol R1, R2).

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Format, IssuerId, Statement, UnixTime, signed::Extensions};
use serde::{Deserialize, Serialize};

use crate::{
    body::Body,
    limits::{MAX_BODY_BYTES, MAX_DELTAS, MAX_ENTRIES, MAX_SOURCES},
    list::ListVersion,
    name::BodyName,
};

/// The content of a head, as it is signed (`typ` = `pact-revocations-head/1`). Its numbers fit each other, always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "HeadWire", into = "HeadWire")]
pub struct Head {
    wire: HeadWire,
}

/// The members of a head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeadWire {
    pub(crate) covers: BTreeSet<Format>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) crit: Vec<String>,
    pub(crate) deltas: Vec<DeltaName>,
    pub(crate) entries: EntriesName,
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub(crate) ext: Extensions,
    pub(crate) issued_at: UnixTime,
    pub(crate) issuer: IssuerId,
    pub(crate) next_update: UnixTime,
    pub(crate) previous: Option<BodyName>,
    pub(crate) sources: BTreeMap<IssuerId, SourceTime>,
    pub(crate) typ: String,
    pub(crate) version: ListVersion,
}

/// The body that holds the whole set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntriesName {
    /// Size of the body.
    pub bytes: u64,
    /// How many entries it holds.
    pub count: u64,
    /// Its name.
    pub sha256: BodyName,
}

/// The delta that starts from one earlier list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeltaName {
    /// Number of the list that it starts from.
    pub from: ListVersion,
    /// Its name.
    pub sha256: BodyName,
}

/// When the list of a source of imported mandates was signed, as our publisher last verified it (protocol C6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SourceWire", into = "SourceWire")]
pub enum SourceTime {
    /// The signed time.
    At(UnixTime),
    /// The source publishes no list, and this was declared (`"none"`).
    None,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SourceWire {
    At(UnixTime),
    Word(String),
}

/// Members of a head that do not fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// List 0 is never signed.
    #[error("our lists are numbered from 1")]
    NoVersion,
    /// The first list follows none, every other one does.
    #[error("`previous` must be null in list 1 and in no other")]
    Previous,
    /// It would never be fresh.
    #[error("`next_update` is not after `issued_at`")]
    NextUpdate,
    /// It would answer nothing.
    #[error("`covers` is empty")]
    CoversNothing,
    /// More deltas than the bound.
    #[error("more than {MAX_DELTAS} deltas")]
    TooManyDeltas,
    /// Deltas from the newest to the oldest, each once, all from earlier lists.
    #[error("the deltas' `from` must fall strictly, starting below the version")]
    DeltaOrder,
    /// More sources than the bound.
    #[error("more than {MAX_SOURCES} sources")]
    TooManySources,
    /// No body of so many entries has so many bytes, or it is past the bound.
    #[error("`entries` announces a body of {count} entries in {bytes} bytes, which no body has")]
    Size {
        /// Announced entries.
        count: u64,
        /// Announced bytes.
        bytes: u64,
    },
    /// A source's time that is neither a number nor `none`.
    #[error("a source's time is Unix seconds or \"none\"")]
    SourceTime,
}

impl Head {
    pub(crate) fn new(wire: HeadWire) -> Result<Head, HeadFault> {
        check_times(&wire)?;
        check_lengths(&wire)?;
        let order = wire.deltas.is_sorted_by(|a, b| a.from > b.from);
        if !order || wire.deltas.first().is_some_and(|newest| newest.from >= wire.version) {
            return Err(HeadFault::DeltaOrder);
        }
        Ok(Head { wire })
    }

    /// Whose list.
    pub fn issuer(&self) -> &IssuerId {
        &self.wire.issuer
    }

    /// Its number.
    pub fn version(&self) -> ListVersion {
        self.wire.version
    }

    /// When it was signed.
    pub fn issued_at(&self) -> UnixTime {
        self.wire.issued_at
    }

    /// When the next one is due at the latest.
    pub fn next_update(&self) -> UnixTime {
        self.wire.next_update
    }

    /// The formats whose credentials it speaks for.
    pub fn covers(&self) -> &BTreeSet<Format> {
        &self.wire.covers
    }

    /// The sources of imported mandates, each with the signed time of its list.
    pub fn sources(&self) -> &BTreeMap<IssuerId, SourceTime> {
        &self.wire.sources
    }

    /// The body with the whole set.
    pub fn entries(&self) -> &EntriesName {
        &self.wire.entries
    }

    /// The body of the list before; `None` in the first list.
    pub fn previous(&self) -> Option<&BodyName> {
        self.wire.previous.as_ref()
    }

    /// The deltas, the newest base first.
    pub fn deltas(&self) -> &[DeltaName] {
        &self.wire.deltas
    }

    /// The delta that starts from this list.
    pub fn delta_from(&self, version: ListVersion) -> Option<&DeltaName> {
        self.wire.deltas.iter().find(|delta| delta.from == version)
    }
}

fn check_times(wire: &HeadWire) -> Result<(), HeadFault> {
    if wire.version < ListVersion::FIRST {
        return Err(HeadFault::NoVersion);
    }
    if wire.previous.is_none() != (wire.version == ListVersion::FIRST) {
        return Err(HeadFault::Previous);
    }
    if wire.next_update <= wire.issued_at { Err(HeadFault::NextUpdate) } else { Ok(()) }
}

fn check_lengths(wire: &HeadWire) -> Result<(), HeadFault> {
    if wire.covers.is_empty() {
        return Err(HeadFault::CoversNothing);
    }
    if wire.deltas.len() > MAX_DELTAS {
        return Err(HeadFault::TooManyDeltas);
    }
    if wire.sources.len() > MAX_SOURCES {
        return Err(HeadFault::TooManySources);
    }
    let EntriesName { bytes, count, .. } = wire.entries;
    let fits = count <= MAX_ENTRIES && bytes <= MAX_BODY_BYTES && bytes >= Body::least_size(count);
    if fits { Ok(()) } else { Err(HeadFault::Size { count, bytes }) }
}

impl EntriesName {
    /// How a head names this body.
    pub fn of(body: &Body) -> EntriesName {
        EntriesName { bytes: body.size(), count: body.count(), sha256: *body.name() }
    }
}

impl Statement for Head {
    const TYP: &'static str = "pact-revocations-head/1";

    fn typ(&self) -> &str {
        &self.wire.typ
    }

    fn crit(&self) -> &[String] {
        &self.wire.crit
    }
}

impl TryFrom<HeadWire> for Head {
    type Error = HeadFault;

    fn try_from(wire: HeadWire) -> Result<Head, HeadFault> {
        Head::new(wire)
    }
}

impl From<Head> for HeadWire {
    fn from(head: Head) -> HeadWire {
        head.wire
    }
}

impl TryFrom<SourceWire> for SourceTime {
    type Error = HeadFault;

    fn try_from(wire: SourceWire) -> Result<SourceTime, HeadFault> {
        match wire {
            SourceWire::At(time) => Ok(SourceTime::At(time)),
            SourceWire::Word(word) if word == "none" => Ok(SourceTime::None),
            SourceWire::Word(_) => Err(HeadFault::SourceTime),
        }
    }
}

impl From<SourceTime> for SourceWire {
    fn from(time: SourceTime) -> SourceWire {
        match time {
            SourceTime::At(time) => SourceWire::At(time),
            SourceTime::None => SourceWire::Word("none".to_owned()),
        }
    }
}
