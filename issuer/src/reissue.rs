//! A holder gets its credential anew: the same mandate, the same key, for as long as the last one. Nothing is granted by it,
//! so it takes no person; whoever stops the mandate or the key stops this too.

use std::collections::BTreeMap;

use pact_mandate::{
    Authentic, IssuerId, KeyId, MandateId, PublicKey, Reissue, ReissueId, Signed, UnixTime,
    signed::SignedError,
};

use crate::{
    export::{Credential, Order},
    limits::{
        MAX_REISSUE_BYTES, MAX_REISSUES_A_HOLDER, MAX_REISSUES_KEPT, REISSUE_SKEW_SECONDS,
        REISSUE_WINDOW_SECONDS,
    },
    records::Records,
    store::{NotExported, Store},
};

/// Where holders ask. It remembers what was asked for as long as that could be asked again.
#[derive(Debug)]
pub struct Desk {
    issuer: IssuerId,
    /// Nothing from before is remembered, so nothing from before counts (protocol P7).
    opened_at: UnixTime,
    /// The latest time that was seen: a clock that is set back makes nothing young (protocol T1).
    latest: UnixTime,
    /// What was used, as long as it could be asked again.
    used: BTreeMap<ReissueId, Used>,
}

#[derive(Debug)]
struct Used {
    mandate: MandateId,
    holder: PublicKey,
    until: UnixTime,
}

/// Why there is no new credential.
#[derive(Debug, thiserror::Error)]
pub enum ReissueRefusal {
    /// Not a signed statement of this kind.
    #[error("not a signed request for a credential anew: {0}")]
    Malformed(SignedError),
    /// The signature is not by the key that it names.
    #[error("the request is not signed by the key that it names")]
    NotProven,
    /// For somebody else.
    #[error("the request is for another issuer; this is {0}")]
    OtherIssuer(IssuerId),
    /// Signed too long ago.
    #[error(
        "the request was signed {age} s ago, at most {REISSUE_WINDOW_SECONDS} count; are the clocks right?"
    )]
    TooOld {
        /// How long ago.
        age: u64,
    },
    /// Signed in the future.
    #[error(
        "the request is dated {ahead} s ahead of this clock, at most {REISSUE_SKEW_SECONDS} are accepted; are the clocks right?"
    )]
    FromTheFuture {
        /// How far.
        ahead: u64,
    },
    /// What is signed now would begin too early, or live too long.
    #[error("the issuer's clock was set back by {behind} s; nothing is signed until it is right")]
    ClockSetBack {
        /// By how much.
        behind: u64,
    },
    /// What was used before the start is not remembered.
    #[error(
        "the request was signed before this server remembers; sign a new one in {REISSUE_SKEW_SECONDS} s"
    )]
    BeforeStart,
    /// Once is enough.
    #[error("the request was used before; sign a new one")]
    Replayed,
    /// No credential of that mandate in that format was ever exported to that key, or there is no such mandate.
    #[error(
        "no credential of that mandate in that format was ever exported to the key that signed; ask the person who grants"
    )]
    NotRegistered,
    /// Somebody has stopped that holder's credential by its id.
    #[error("a credential of that mandate for this key was revoked at {at}; ask the person who grants")]
    CredentialRevoked {
        /// When.
        at: UnixTime,
    },
    /// A holder that asks again and again.
    #[error(
        "{MAX_REISSUES_A_HOLDER} credentials of that mandate were made within a minute; ask again in {seconds} s"
    )]
    TooMany {
        /// When to ask again.
        seconds: u64,
    },
    /// More than is remembered.
    #[error(
        "{MAX_REISSUES_KEPT} requests were answered within a minute, more are not remembered; ask again later"
    )]
    Full,
    /// Revoked, ended, or nothing that can be exported.
    #[error(transparent)]
    NotExported(#[from] NotExported),
}

impl Desk {
    /// Opens now.
    pub const fn new(issuer: IssuerId, now: UnixTime) -> Desk {
        Desk { issuer, opened_at: now, latest: now, used: BTreeMap::new() }
    }

    /// Judges a request and answers it. Signature, addressee and time come first, then who holds what; the id is used up last,
    /// before the credential is made.
    pub fn serve(
        &mut self,
        store: &mut Store,
        bytes: &[u8],
        now: UnixTime,
    ) -> Result<Credential, ReissueRefusal> {
        self.latest = self.latest.max(now);
        let behind = self.latest.since(now);
        if behind > REISSUE_SKEW_SECONDS {
            return Err(ReissueRefusal::ClockSetBack { behind });
        }
        let request = open(bytes)?;
        let (asked, holder) = (request.statement(), *request.key());
        self.check(asked, self.latest)?;
        // Strangers never get as far as the writer's lock.
        store.refresh().map_err(NotExported::from)?;
        self::lifetime(store.state().records(), asked, &holder)?;
        let mut writer = store.write().map_err(NotExported::from)?;
        let lifetime = self::lifetime(writer.state().records(), asked, &holder)?;
        self.use_up(asked, holder, self.latest)?;
        let order = Order { holder, lifetime, now };
        Ok(writer.export(asked.mandate(), asked.format(), &order)?)
    }

    fn check(&self, request: &Reissue, now: UnixTime) -> Result<(), ReissueRefusal> {
        if *request.issuer() != self.issuer {
            return Err(ReissueRefusal::OtherIssuer(self.issuer.clone()));
        }
        let (age, ahead) = (now.since(request.issued_at()), request.issued_at().since(now));
        if age > REISSUE_WINDOW_SECONDS {
            return Err(ReissueRefusal::TooOld { age });
        }
        if ahead > REISSUE_SKEW_SECONDS {
            return Err(ReissueRefusal::FromTheFuture { ahead });
        }
        if request.issued_at() <= self.opened_at.plus(REISSUE_SKEW_SECONDS) {
            return Err(ReissueRefusal::BeforeStart);
        }
        if self.used.contains_key(request.id()) { Err(ReissueRefusal::Replayed) } else { Ok(()) }
    }

    fn use_up(&mut self, request: &Reissue, holder: PublicKey, now: UnixTime) -> Result<(), ReissueRefusal> {
        self.used.retain(|_, used| used.until >= now);
        if self.used.len() >= MAX_REISSUES_KEPT {
            return Err(ReissueRefusal::Full);
        }
        let mandate = request.mandate();
        let own = self.used.values().filter(|used| used.mandate == mandate && used.holder == holder);
        let (count, first) = own.fold((0, None), |(count, first), used| {
            (count + 1, Some(first.map_or(used.until, |first: UnixTime| first.min(used.until))))
        });
        if let Some(first) = first.filter(|_| count >= MAX_REISSUES_A_HOLDER) {
            return Err(ReissueRefusal::TooMany { seconds: first.since(now).saturating_add(1) });
        }
        let until = request.issued_at().plus(REISSUE_WINDOW_SECONDS);
        self.used.insert(request.id().clone(), Used { mandate, holder, until });
        Ok(())
    }
}

/// Checks that the key which the signature names made it. Who that key is, the records say.
fn open(bytes: &[u8]) -> Result<Authentic<Reissue>, ReissueRefusal> {
    if bytes.len() > MAX_REISSUE_BYTES {
        let fault = SignedError::TooLarge { bytes: bytes.len(), limit: MAX_REISSUE_BYTES };
        return Err(ReissueRefusal::Malformed(fault));
    }
    let signed = Signed::<Reissue>::from_bytes(bytes).map_err(ReissueRefusal::Malformed)?;
    let id: KeyId = signed.unverified_key_id().clone();
    let key: PublicKey = id.to_string().parse().map_err(|_| ReissueRefusal::NotProven)?;
    signed.open(&BTreeMap::from([(id, key)])).map_err(|fault| match fault {
        SignedError::BadSignature(_) | SignedError::UnknownKey(_) => ReissueRefusal::NotProven,
        other => ReissueRefusal::Malformed(other),
    })
}

/// For how long: as long as the last credential of that mandate, in that format, for that key was made to live. Whoever has
/// revoked one of any format by its id has stopped this as well, until a person exports again.
fn lifetime(records: &Records, request: &Reissue, holder: &PublicKey) -> Result<u64, ReissueRefusal> {
    let held = records.held(request.mandate(), holder);
    let mut newest_first = held.credentials.iter().rev();
    let last = newest_first.find(|record| record.format == request.format());
    let last = last.ok_or(ReissueRefusal::NotRegistered)?;
    match held.stopped_at {
        Some(at) => Err(ReissueRefusal::CredentialRevoked { at }),
        None => Ok(last.expires_at.since(last.issued_at)),
    }
}

#[cfg(test)]
mod tests;
