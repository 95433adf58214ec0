//! Revoking: one thing and everything below it, in every format (protocol R3, R8).

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};

use pact_mandate::{Format, MandateId, PublicKey, UnixTime};
use pact_revocation::Listed;
use serde::{Deserialize, Serialize};

use crate::{
    record::CredentialId,
    records::{Name, Records, RecordsError},
};

/// What one revocation does: kept in one transaction, whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// What was named.
    pub target: Name,
    /// When.
    pub at: UnixTime,
    /// Mandates that go with what was named: those below it, or below what its key signed; dead ones too.
    pub descendants: u64,
    /// What enters the lists by it. Empty when all of it had expired or was listed before.
    pub listed: Vec<ListedName>,
}

/// One name that enters the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedName {
    /// The name.
    pub name: Name,
    /// When it would have ended by itself.
    pub expires_at: UnixTime,
}

impl Revocation {
    /// Whether it raises the number of the compatible list of that format (board rule 5.5).
    pub(crate) fn raises(&self, format: Format) -> bool {
        self.listed.iter().any(|listed| matches!(listed.name, Name::Credential(id) if id.format() == format))
    }
}

impl ListedName {
    /// What our list takes of it.
    pub fn listed(&self) -> Listed {
        Listed { entry: self.name.entry(), expires_at: self.expires_at }
    }
}

/// Revokes a mandate: it, every mandate below it, and every link and block that was minted for any of them.
pub fn mandate(records: &Records, id: MandateId, now: UnixTime) -> Result<Revocation, RecordsError> {
    records.mandate(id)?;
    let mut gathered = Gathered::new(records, now);
    let subtree = records.subtree(id);
    for id in &subtree {
        gathered.add_mandate(*id)?;
    }
    Ok(gathered.into_revocation(Name::Mandate(id), count(subtree.len().saturating_sub(1))))
}

/// Revokes a link or block: it and those below it in its credential. Whatever the holder derived from it holds that id
/// as well. Its mandate stays as it is.
pub fn credential(records: &Records, id: CredentialId, now: UnixTime) -> Result<Revocation, RecordsError> {
    let credential = records.credential_with(id)?;
    let mut gathered = Gathered::new(records, now);
    for minted in credential.minted.iter().skip_while(|minted| minted.id != id) {
        gathered.add(Name::Credential(minted.id), minted.expires_at);
    }
    Ok(gathered.into_revocation(Name::Credential(id), 0))
}

/// Revokes a link or block as [`credential`] does, and with it the holder's every other credential of that mandate: the
/// ones that were made anew, which have ids of their own.
pub fn credential_and_siblings(
    records: &Records,
    id: CredentialId,
    now: UnixTime,
) -> Result<Revocation, RecordsError> {
    let mut revocation = credential(records, id, now)?;
    revocation.listed.extend(siblings(records, id, now)?);
    Ok(revocation)
}

/// The last links or blocks of the holder's other credentials of the same mandate, where they have not ended and are not
/// listed.
pub fn siblings(records: &Records, id: CredentialId, now: UnixTime) -> Result<Vec<ListedName>, RecordsError> {
    let own = records.credential_with(id)?;
    let mut gathered = Gathered::new(records, now);
    for other in records.held(own.mandate, &own.holder).credentials {
        if let Some(last) = other.minted.last().filter(|_| other != own) {
            gathered.add(Name::Credential(last.id), last.expires_at);
        }
    }
    Ok(gathered.listed)
}

/// Revokes a key, for good: every chain with it as root, issuer or holder. Verifiers that know only ids of credentials
/// get those of every credential that it signed or holds. What another key exported of a mandate that this one signed
/// carries no trace of it, so such a mandate is listed with everything below it, in every format (protocol R8).
pub fn key(
    records: &Records,
    key: PublicKey,
    signs_as: Option<&pact_mandate::KeyId>,
    now: UnixTime,
) -> Result<Revocation, RecordsError> {
    let mut gathered = Gathered::new(records, now);
    // Listing is final and a key can sign again at any time, so its entry never leaves the list.
    gathered.add(Name::Key(key), UnixTime::MAX);
    for credential in records.credentials() {
        let concerned = credential.holder == key || signs_as.is_some_and(|kid| credential.key == *kid);
        if let Some(last) = credential.minted.last().filter(|_| concerned) {
            gathered.add(Name::Credential(last.id), last.expires_at);
        }
    }
    let signed = records.mandates().filter(|record| signs_as == Some(record.signed.unverified_key_id()));
    let fallen: BTreeSet<MandateId> = signed.flat_map(|record| records.subtree(record.id)).collect();
    for id in &fallen {
        gathered.add_mandate(*id)?;
    }
    Ok(gathered.into_revocation(Name::Key(key), count(fallen.len())))
}

fn count(mandates: usize) -> u64 {
    u64::try_from(mandates).unwrap_or(u64::MAX)
}

/// Names on their way to the lists: each once, none that expired, none that is listed already.
struct Gathered<'a> {
    records: &'a Records,
    now: UnixTime,
    seen: HashSet<Name>,
    listed: Vec<ListedName>,
}

impl<'a> Gathered<'a> {
    fn new(records: &'a Records, now: UnixTime) -> Gathered<'a> {
        Gathered { records, now, seen: HashSet::new(), listed: Vec::new() }
    }

    fn add(&mut self, name: Name, expires_at: UnixTime) {
        if expires_at > self.now && self.records.listed_at(&name).is_none() && self.seen.insert(name) {
            self.listed.push(ListedName { name, expires_at });
        }
    }

    /// A mandate, and every link and block that was minted for it.
    fn add_mandate(&mut self, id: MandateId) -> Result<(), RecordsError> {
        self.add(Name::Mandate(id), self.records.mandate(id)?.expires_at);
        for minted in self.records.credentials_of(id).flat_map(|credential| &credential.minted) {
            if minted.mandate == id {
                self.add(Name::Credential(minted.id), minted.expires_at);
            }
        }
        Ok(())
    }

    fn into_revocation(self, target: Name, descendants: u64) -> Revocation {
        Revocation { target, at: self.now, descendants, listed: self.listed }
    }
}
