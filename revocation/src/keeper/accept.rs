//! What becomes of an accepted candidate: nothing listed is lost, the floor rises, then the list is held.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use pact_mandate::{Authentic, Now, UnixTime, jwks::KeySet, key::Thumbprint};

use super::{Keeper, check_version};
use crate::{
    body::Body,
    entries::Entries,
    expiry::{Minute, Row},
    floor::{Floor, Mark},
    head::Head,
    held::{Held, Receipt},
    limits::{MAX_ENTRIES, MAX_MARKS},
    refusal::ListRefusal,
};

impl Keeper {
    pub(super) fn install_ours(
        &mut self,
        head: &Authentic<Head>,
        body: Arc<Body>,
        now: Now,
    ) -> Result<Arc<Held>, ListRefusal> {
        let key = head.key().thumbprint();
        let head = head.statement();
        let kept = self.kept_beside(&body, key, head.issued_at())?;
        self.install(
            Held {
                issuer: self.issuer.clone(),
                kind: self.kind,
                key,
                version: head.version(),
                issued_at: head.issued_at(),
                next_update: Some(head.next_update()),
                covers: head.covers().clone(),
                sources: head.sources().clone(),
                body,
                kept,
                receipt: self.receipt(head.issued_at(), now),
            },
            now,
        )
    }

    /// Raises the floor, then holds the list. When the floor cannot be written the list is refused, and so it is when
    /// another process has seen a higher version meanwhile.
    pub(super) fn install(&mut self, mut held: Held, now: Now) -> Result<Arc<Held>, ListRefusal> {
        let floor = self.floor_of(&held);
        floor.check_kept(MAX_ENTRIES)?;
        if self.floor.as_ref() != Some(&floor) {
            let raised = self.store.raise(&self.issuer, self.kind, self.floor.as_ref(), &floor)?;
            held.kept = Arc::clone(&raised.kept);
            self.floor = Some(raised);
            if let Some(mark) = self.mark(&held.key) {
                check_version(mark, held.key, held.version)?;
            }
        }
        let held = Arc::new(held);
        self.reached = Some((self.least_time(now).max(held.issued_at), now.monotonic));
        self.held = Some(Arc::clone(&held));
        Ok(held)
    }

    /// Protocol R5: the age at receipt. A candidate is at least as old as the time that the issuer's own signatures prove to
    /// have passed, so that a wall clock that stepped back makes no held-back list young (T1).
    pub(super) fn receipt(&self, issued_at: UnixTime, now: Now) -> Receipt {
        let time = now.wall.max(self.least_time(now));
        Receipt { at: now, age: Duration::from_secs(time.since(issued_at)) }
    }

    fn least_time(&self, now: Now) -> UnixTime {
        let passed = |(time, then): (UnixTime, _)| time.plus(now.monotonic.since(then).as_secs());
        self.reached.map_or(UnixTime::EPOCH, passed)
    }

    /// Protocol R6 and R7: under the key that signed before, nothing may be missing; under another key, what is missing is
    /// kept until its time is over.
    fn kept_beside(
        &self,
        body: &Arc<Body>,
        key: Thumbprint,
        issued_at: UnixTime,
    ) -> Result<Arc<Body>, ListRefusal> {
        let Some(floor) = &self.floor else { return Ok(Arc::new(Body::of([]))) };
        let unchanged = floor.body.name() == body.name();
        let missing = if unchanged { Vec::new() } else { missing_from(body, &floor.body, issued_at) };
        if floor.key == key {
            check_none_missing(&missing)?;
            return Ok(kept(&floor.kept, Vec::new(), body, issued_at));
        }
        Ok(kept(&floor.kept, missing, body, issued_at))
    }

    fn floor_of(&self, held: &Held) -> Floor {
        let mut marks = self.floor.as_ref().map(|floor| floor.marks.clone()).unwrap_or_default();
        if marks.len() >= MAX_MARKS {
            forget_unpinned(&mut marks, &self.keys);
        }
        marks.insert(held.key, Mark { version: held.version, entries: *held.body.name() });
        Floor { key: held.key, marks, body: Arc::clone(&held.body), kept: Arc::clone(&held.kept) }
    }
}

/// The rows of `old` that `new` does not hold for as long, and whose time is not over.
fn missing_from(new: &Body, old: &Body, issued_at: UnixTime) -> Vec<Row> {
    let is_missing = |row: &&Row| !new.entries().outlives(row) && !row.until.may_have_left(issued_at);
    old.entries().rows().iter().filter(is_missing).copied().collect()
}

fn check_none_missing(missing: &[Row]) -> Result<(), ListRefusal> {
    match missing.first() {
        None => Ok(()),
        Some(row) => Err(ListRefusal::EntryGone { count: missing.len(), expires_at: row.until.time() }),
    }
}

/// The kept rows and the newly missing ones, without those whose time is over or that the list holds for as long.
pub(super) fn kept(before: &Arc<Body>, missing: Vec<Row>, list: &Body, time: UnixTime) -> Arc<Body> {
    let stays = |row: &Row| !row.until.may_have_left(time) && !list.entries().outlives(row);
    let rows = before.entries().rows();
    if missing.is_empty() && rows.iter().all(stays) {
        return Arc::clone(before);
    }
    let rows: Vec<Row> = rows.iter().copied().filter(stays).chain(missing).collect();
    Arc::new(Body::encode(Entries::from_rows(rows)).0)
}

/// Rows that nobody gave an expiry, kept until `until`.
pub(super) fn until(rows: impl Iterator<Item = Row>, until: Minute) -> Vec<Row> {
    rows.map(|row| Row { until, ..row }).collect()
}

fn forget_unpinned(marks: &mut BTreeMap<Thumbprint, Mark>, keys: &KeySet) {
    marks.retain(|thumbprint, _| keys.keys().iter().any(|(_, key)| key.thumbprint() == *thumbprint));
}
