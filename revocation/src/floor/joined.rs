//! Two floors of one list, seen by two processes, become one that is below neither (protocol R7).

use std::{collections::BTreeMap, sync::Arc};

use pact_mandate::{Format, key::Thumbprint};

use super::{Floor, FloorError, Mark};
use crate::{
    body::Body,
    entries::Entries,
    expiry::Row,
    limits::{MAX_ENTRIES, MAX_MARKS},
};

#[cfg(test)]
mod tests;

impl Floor {
    /// This floor, raised to whatever `stored` saw beyond it. The list of this one stands, unless a higher version of its
    /// key was seen; what the other list holds beyond it is kept, so that no entry is forgotten. An entry without an
    /// expiry is then kept without an end.
    ///
    /// Of a compatible list, which is signed anew at one number as ids expire, the one with fewer of the same ids stands.
    pub(crate) fn joined(&self, stored: &Floor, kind: Format) -> Result<Floor, FloorError> {
        let (ours, theirs) = match self.later_of_one_number(stored, kind) {
            Some(Later::Ours) => (self.marks.clone(), with_mark_of(stored, self)),
            Some(Later::Theirs) => (with_mark_of(self, stored), stored.marks.clone()),
            None => (self.marks.clone(), stored.marks.clone()),
        };
        let marks = joined_marks(&ours, &theirs)?;
        let stands = |floor: &&Floor| marks.get(&floor.key) == floor.marks.get(&floor.key);
        let winner = [self, stored].into_iter().find(stands).ok_or(FloorError::Diverged)?;
        let rows = [&self.body, &stored.body, &self.kept, &stored.kept];
        let rows = rows.into_iter().flat_map(|body| body.entries().rows()).copied();
        let beyond: Vec<Row> = rows.filter(|row| !winner.body.entries().outlives(row)).collect();
        let joined = Floor {
            key: winner.key,
            body: Arc::clone(&winner.body),
            kept: Arc::new(Body::encode(Entries::from_rows(beyond)).0),
            marks,
        };
        joined.check_kept(MAX_ENTRIES)?;
        Ok(joined)
    }

    /// Which of two compatible lists of one key and number came later, when the one holds nothing that the other does not.
    fn later_of_one_number(&self, stored: &Floor, kind: Format) -> Option<Later> {
        let one_number = kind != Format::Pact && self.key == stored.key && self.version() == stored.version();
        let within = |one: &Floor, other: &Floor| {
            one.body.entries().rows().iter().all(|row| other.body.entries().contains(&row.entry))
        };
        if !one_number || self.body.name() == stored.body.name() {
            None
        } else if within(self, stored) {
            Some(Later::Ours)
        } else if within(stored, self) {
            Some(Later::Theirs)
        } else {
            None
        }
    }

    /// Whether both say the same, told by the names of their bodies.
    pub(crate) fn is_same_as(&self, other: &Floor) -> bool {
        self.key == other.key
            && self.marks == other.marks
            && self.body.name() == other.body.name()
            && self.kept.name() == other.kept.name()
    }
}

#[derive(Clone, Copy)]
enum Later {
    Ours,
    Theirs,
}

/// The marks of `floor`, with the mark that `later` has for their common key.
fn with_mark_of(floor: &Floor, later: &Floor) -> BTreeMap<Thumbprint, Mark> {
    let mut marks = floor.marks.clone();
    marks.extend(later.marks.get(&later.key).map(|mark| (later.key, *mark)));
    marks
}

/// The higher mark of each key. One version with two sets of entries is equivocation, whoever saw which (protocol R6).
fn joined_marks(
    offered: &BTreeMap<Thumbprint, Mark>,
    stored: &BTreeMap<Thumbprint, Mark>,
) -> Result<BTreeMap<Thumbprint, Mark>, FloorError> {
    let mut marks = offered.clone();
    for (key, theirs) in stored {
        let ours = marks.entry(*key).or_insert(*theirs);
        if ours.version == theirs.version && ours.entries != theirs.entries {
            let (version, seen, found) = (theirs.version, theirs.entries, ours.entries);
            return Err(FloorError::Equivocation { version, seen, found });
        }
        if ours.version < theirs.version {
            *ours = *theirs;
        }
    }
    if marks.len() > MAX_MARKS {
        // Who offers has forgotten the keys that it no longer pins.
        marks.retain(|key, _| offered.contains_key(key));
    }
    Ok(marks)
}
