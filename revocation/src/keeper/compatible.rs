//! The compatible lists' rules (protocol R6, last sentence): they are signed anew at one number and carry no expiries.

use std::{collections::BTreeMap, sync::Arc};

use pact_mandate::{Format, Now, UnixTime, limits::MAX_LIFETIME_SECONDS};

use super::{
    Keeper,
    accept::{kept, until},
    check_time, check_version,
};
use crate::{
    body::Body,
    compat::{CompatibleList, biscuit::BiscuitList, tenuo},
    entries::Entries,
    expiry::{Minute, Row},
    held::Held,
    refusal::ListRefusal,
};

impl Keeper {
    /// Accepts a compatible list as it came, in the format that this keeper keeps.
    pub fn accept_compatible(&mut self, bytes: &[u8], now: Now) -> Result<Arc<Held>, ListRefusal> {
        let list = match self.kind {
            Format::Tenuo => tenuo::open(bytes, &self.keys)?,
            Format::Biscuit => BiscuitList::open(bytes, &self.keys)?,
            Format::Pact => {
                return Err(ListRefusal::OtherKind { wanted: Format::Pact, found: Format::Tenuo });
            }
        };
        check_time(list.issued_at, now)?;
        if let Some(mark) = self.mark(&list.key) {
            check_version(mark, list.key, list.version)?;
        }
        self.check_order(&list.key, list.version, list.issued_at)?;
        let body = body_of(&list);
        self.check_nothing_added(&list, &body)?;
        if let Some(held) = self.held.as_ref().filter(|held| is_same(held, &list, &body)) {
            return Ok(Arc::clone(held));
        }
        self.install_compatible(&list, body, now)
    }

    fn install_compatible(
        &mut self,
        list: &CompatibleList,
        body: Body,
        now: Now,
    ) -> Result<Arc<Held>, ListRefusal> {
        let kept = self.kept_beside_ids(&body, list.issued_at);
        let receipt = self.receipt(list.issued_at, now);
        self.install(
            Held {
                issuer: self.issuer.clone(),
                kind: self.kind,
                key: list.key,
                version: list.version,
                issued_at: list.issued_at,
                next_update: None,
                covers: [self.kind].into(),
                sources: BTreeMap::new(),
                body: Arc::new(body),
                kept,
                receipt,
            },
            now,
        )
    }

    /// Protocol R6: the same version with added ids is equivocation.
    fn check_nothing_added(&self, list: &CompatibleList, body: &Body) -> Result<(), ListRefusal> {
        let Some(mark) = self.mark(&list.key).filter(|mark| mark.version == list.version) else {
            return Ok(());
        };
        let seen = self.floor.as_ref().filter(|floor| floor.key == list.key);
        let held_before = |row: &Row| seen.is_some_and(|floor| floor.body.entries().contains(&row.entry));
        if mark.entries == *body.name() || body.entries().rows().iter().all(held_before) {
            return Ok(());
        }
        Err(ListRefusal::Equivocation { version: list.version, seen: mark.entries, found: *body.name() })
    }

    /// Protocol R6: an id that is missing now stays revoked here for the longest lifetime accepted, from the time that the list
    /// itself names: a clock of ours that ran ahead once must not end it (T1).
    fn kept_beside_ids(&self, body: &Body, time: UnixTime) -> Arc<Body> {
        let Some(floor) = &self.floor else { return Arc::new(Body::of([])) };
        let longest = Minute::of(time.plus(MAX_LIFETIME_SECONDS));
        let rows = floor.body.entries().rows().iter();
        let missing = rows.filter(|row| !body.entries().contains(&row.entry)).copied();
        kept(&floor.kept, until(missing, longest), body, time)
    }
}

fn is_same(held: &Held, list: &CompatibleList, body: &Body) -> bool {
    held.key == list.key
        && held.version == list.version
        && held.issued_at == list.issued_at
        && held.body.name() == body.name()
}

fn body_of(list: &CompatibleList) -> Body {
    let rows = list.entries.iter().map(|entry| Row { entry: *entry, until: Minute::NEVER }).collect();
    Body::encode(Entries::from_rows(rows)).0
}
