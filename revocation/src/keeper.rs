//! The keeper of one list of one issuer: it accepts or refuses what a fetch brought (protocol R5, R6, R7).

use std::{fmt, sync::Arc};

use pact_mandate::{
    Authentic, Format, IssuerId, Monotonic, Now, Signed, UnixTime, jwks::KeySet, key::Thumbprint,
};

use crate::{
    body::Body,
    delta::Delta,
    floor::{Floor, FloorError, FloorStore, Mark},
    head::{EntriesName, Head},
    held::Held,
    limits::MAX_FUTURE_SECONDS,
    list::ListVersion,
    name::BodyName,
    plan::Step,
    refusal::ListRefusal,
};

mod accept;
mod compatible;
#[cfg(test)]
mod tests;

/// What is known of one list of one issuer, and the rules by which a newer one takes its place. No I/O but the floor's.
pub struct Keeper {
    issuer: IssuerId,
    kind: Format,
    keys: KeySet,
    store: Box<dyn FloorStore>,
    floor: Option<Floor>,
    held: Option<Arc<Held>>,
    /// A time that the issuer's clock had reached, and the reading of our monotonic clock when we learned of it.
    reached: Option<(UnixTime, Monotonic)>,
}

/// A head that passed every check that needs no content, and what to fetch for it.
#[derive(Debug)]
pub struct Examined {
    head: Authentic<Head>,
    step: Step,
}

/// What was fetched for a head.
#[derive(Clone, Copy)]
pub enum Content<'a> {
    /// Nothing: the head names the entries that are held.
    Held,
    /// The bytes of a delta.
    Delta(&'a [u8]),
    /// The bytes of the body.
    Body(&'a [u8]),
}

impl Keeper {
    /// A keeper that holds no list yet, above the floor that the store remembers.
    ///
    /// `kind` says which list: [`Format::Pact`] is our own, signed by list keys; the other two are the compatible ones,
    /// signed by mandate keys (protocol K1). `keys` are the keys pinned for this issuer in that role.
    pub fn new(
        issuer: IssuerId,
        kind: Format,
        keys: KeySet,
        store: impl FloorStore + 'static,
    ) -> Result<Keeper, FloorError> {
        let floor = store.load(&issuer, kind)?;
        Ok(Keeper { issuer, kind, keys, store: Box::new(store), floor, held: None, reached: None })
    }

    /// A keeper that takes the place of another in this process, and knows how late it was there when `before` was held.
    /// So the same list, served on, grows no younger by being watched anew (protocol R5, T1).
    #[must_use]
    pub fn continuing(self, before: &Held) -> Keeper {
        let then = before.issued_at.plus(before.receipt.age.as_secs());
        Keeper { reached: Some((then, before.receipt.at.monotonic)), ..self }
    }

    /// Whose list.
    pub fn issuer(&self) -> &IssuerId {
        &self.issuer
    }

    /// Which list.
    pub fn kind(&self) -> Format {
        self.kind
    }

    /// The list that was accepted last, whatever its age.
    pub fn held(&self) -> Option<&Arc<Held>> {
        self.held.as_ref()
    }

    /// What was seen, also before this process.
    pub fn floor(&self) -> Option<&Floor> {
        self.floor.as_ref()
    }

    /// Pins other keys. A list signed by a key that is no longer among them is not held any more; its entries and floor
    /// stay (protocol R7).
    pub fn pin(&mut self, keys: KeySet) {
        let still_pinned = |held: &Arc<Held>| keys.keys().iter().any(|(_, key)| key.thumbprint() == held.key);
        self.held = self.held.take().filter(still_pinned);
        self.keys = keys;
    }

    /// Checks a head as it came: signature, issuer, time, floor and order. What it takes to accept it is in the answer.
    pub fn examine(&self, head: &[u8], now: Now) -> Result<Examined, ListRefusal> {
        self.expect_kind(Format::Pact)?;
        let head = Signed::<Head>::from_bytes(head)?.open(&self.keys)?;
        self.judge(&head, now)?;
        let step = self.step(&head);
        Ok(Examined { head, step })
    }

    /// Accepts an examined head with what was fetched for it, or refuses it and stays as it is.
    pub fn accept(
        &mut self,
        examined: &Examined,
        content: Content<'_>,
        now: Now,
    ) -> Result<Arc<Held>, ListRefusal> {
        let head = &examined.head;
        // The keeper may have moved since the examination.
        self.judge(head, now)?;
        if let Some(held) = self.already_held(head) {
            return Ok(held);
        }
        let body = self.body_for(head, content)?;
        self.install_ours(head, body, now)
    }

    /// Accepts a head with its whole body, both from wherever they were stored.
    pub fn accept_whole(&mut self, head: &[u8], body: &[u8], now: Now) -> Result<Arc<Held>, ListRefusal> {
        let examined = self.examine(head, now)?;
        self.accept(&examined, Content::Body(body), now)
    }

    fn expect_kind(&self, found: Format) -> Result<(), ListRefusal> {
        if self.kind == found { Ok(()) } else { Err(ListRefusal::OtherKind { wanted: self.kind, found }) }
    }

    fn judge(&self, head: &Authentic<Head>, now: Now) -> Result<(), ListRefusal> {
        let key = head.key().thumbprint();
        let head = head.statement();
        if *head.issuer() != self.issuer {
            let (wanted, found) = (self.issuer.clone(), head.issuer().clone());
            return Err(ListRefusal::OtherIssuer { wanted, found });
        }
        check_time(head.issued_at(), now)?;
        if let Some(mark) = self.mark(&key) {
            check_version(mark, key, head.version())?;
            check_entries(mark, head)?;
        }
        self.check_order(&key, head.version(), head.issued_at())
    }

    /// A list under one number and key is replaced only by one signed later, and a list under another key too.
    fn check_order(
        &self,
        key: &Thumbprint,
        version: ListVersion,
        issued_at: UnixTime,
    ) -> Result<(), ListRefusal> {
        let Some(held) = &self.held else { return Ok(()) };
        let older = if held.key == *key {
            version == held.version && issued_at < held.issued_at
        } else {
            issued_at <= held.issued_at
        };
        if older { Err(ListRefusal::Older { held: held.issued_at, found: issued_at }) } else { Ok(()) }
    }

    fn mark(&self, key: &Thumbprint) -> Option<&Mark> {
        self.floor.as_ref()?.marks.get(key)
    }

    /// The held list, when this head is the very one that it came with: that makes nothing younger (protocol R5).
    fn already_held(&self, head: &Authentic<Head>) -> Option<Arc<Held>> {
        let list = self.held.as_ref()?;
        let same = list.key == head.key().thumbprint()
            && list.version == head.statement().version()
            && list.issued_at == head.statement().issued_at();
        same.then(|| Arc::clone(list))
    }

    fn step(&self, head: &Authentic<Head>) -> Step {
        if self.already_held(head).is_some() {
            return Step::Nothing;
        }
        let key = head.key().thumbprint();
        let head = head.statement();
        match &self.floor {
            Some(floor) if *floor.body.name() == head.entries().sha256 => Step::Refresh,
            Some(floor) if floor.key == key => Step::to_change(head, floor.version()),
            _ => Step::body(head),
        }
    }

    fn body_for(&self, head: &Authentic<Head>, content: Content<'_>) -> Result<Arc<Body>, ListRefusal> {
        let wanted = head.statement().entries();
        let body = match content {
            Content::Held => self.held_body().ok_or(ListRefusal::ContentMissing)?,
            Content::Body(bytes) => Arc::new(Body::from_bytes(named(bytes, &wanted.sha256)?)?),
            Content::Delta(bytes) => Arc::new(self.body_by_delta(head.statement(), bytes)?),
        };
        if *body.name() != wanted.sha256 {
            return Err(ListRefusal::NotItsName { wanted: wanted.sha256, found: *body.name() });
        }
        if EntriesName::of(&body) != *wanted {
            return Err(ListRefusal::OtherSize { announced: wanted.count, found: body.count() });
        }
        Ok(body)
    }

    fn body_by_delta(&self, head: &Head, bytes: &[u8]) -> Result<Body, ListRefusal> {
        let base = self.held_body().ok_or(ListRefusal::ContentMissing)?;
        let found = BodyName::of(bytes);
        let offered = head.deltas().iter().find(|delta| delta.sha256 == found);
        let Some(offered) = offered else {
            let wanted = self.floor.as_ref().and_then(|floor| head.delta_from(floor.version()));
            return Err(wanted.map_or(ListRefusal::ContentMissing, |delta| ListRefusal::NotItsName {
                wanted: delta.sha256,
                found,
            }));
        };
        let delta = Delta::from_bytes(bytes)?;
        if delta.base() != base.name() || delta.from() != offered.from {
            let (found, found_base) = (delta.from(), *delta.base());
            return Err(ListRefusal::OtherBase { found, found_base, held: *base.name() });
        }
        Ok(Body::encode(delta.applied_to(&base)).0)
    }

    fn held_body(&self) -> Option<Arc<Body>> {
        self.floor.as_ref().map(|floor| Arc::clone(&floor.body))
    }
}

/// Protocol R5: not more than five seconds ahead of our clock.
fn check_time(issued_at: UnixTime, now: Now) -> Result<(), ListRefusal> {
    if issued_at > now.wall.plus(MAX_FUTURE_SECONDS) {
        return Err(ListRefusal::FromTheFuture { issued_at, now: now.wall });
    }
    Ok(())
}

/// Protocol R6: never below the floor of the key.
fn check_version(mark: &Mark, key: Thumbprint, found: ListVersion) -> Result<(), ListRefusal> {
    if found < mark.version {
        Err(ListRefusal::LowerVersion { floor: mark.version, found, key })
    } else {
        Ok(())
    }
}

/// Protocol R6: one number, one set; and the list after the one that was seen says so.
fn check_entries(mark: &Mark, head: &Head) -> Result<(), ListRefusal> {
    let (version, found) = (head.version(), head.entries().sha256);
    if version == mark.version && found != mark.entries {
        return Err(ListRefusal::Equivocation { version, seen: mark.entries, found });
    }
    let follows = mark.version.next().is_ok_and(|next| next == version);
    if follows && head.previous() != Some(&mark.entries) {
        let found = head.previous().copied();
        return Err(ListRefusal::PreviousMismatch { version, found, held: mark.entries });
    }
    Ok(())
}

fn named<'a>(bytes: &'a [u8], wanted: &BodyName) -> Result<&'a [u8], ListRefusal> {
    let found = BodyName::of(bytes);
    if found == *wanted { Ok(bytes) } else { Err(ListRefusal::NotItsName { wanted: *wanted, found }) }
}

impl Examined {
    /// The head.
    pub fn head(&self) -> &Head {
        self.head.statement()
    }

    /// What to fetch.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// What to fetch when a delta did not do.
    pub fn whole(&self) -> Step {
        Step::body(self.head.statement())
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keeper({} list of {}, held: {:?})", self.kind, self.issuer, self.held)
    }
}
