//! All records at hand, and the ways through them: up to the person, down to everything below.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use pact_mandate::{MandateId, PublicKey, UnixTime, limits::MAX_DEPTH};

use crate::{
    record::{CredentialId, CredentialRecord, MandateRecord},
    revoke::Revocation,
};

/// Mandates and credentials, indexed.
#[derive(Debug, Default)]
pub struct Records {
    mandates: BTreeMap<MandateId, MandateRecord>,
    children: BTreeMap<MandateId, BTreeSet<MandateId>>,
    credentials: Vec<CredentialRecord>,
    credentials_of: BTreeMap<MandateId, BTreeSet<usize>>,
    credential_with: BTreeMap<CredentialId, usize>,
    listed: HashMap<Name, Listing>,
    revoked: HashMap<Name, Moment>,
}

/// When something was written down, by its clock and by its place: clocks of two commands may disagree, and one of them may
/// have waited for the other, while the order of the lines is what everybody reads.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at: UnixTime,
    /// Credentials that were on record before it.
    credentials: usize,
}

/// Since when a name is listed, and when what it names ends by itself.
#[derive(Clone, Copy, Debug)]
struct Listing {
    since: Moment,
    expires_at: UnixTime,
}

/// What a key holds of a mandate.
#[derive(Debug)]
pub struct Held<'a> {
    /// The first one first.
    pub credentials: Vec<&'a CredentialRecord>,
    /// When a person stopped it, if nobody exported since.
    pub stopped_at: Option<UnixTime>,
}

/// What a list can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// A mandate.
    Mandate(MandateId),
    /// A link or block of a credential.
    Credential(CredentialId),
    /// A key: as root, issuer or holder.
    Key(PublicKey),
}

/// Why records cannot be walked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordsError {
    /// Not here.
    #[error("no mandate {0} is on record; `pact-issuer list` shows those that are")]
    UnknownMandate(MandateId),
    /// Not here.
    #[error("no credential has a link or block {0} on record; `pact-issuer list` shows those that do")]
    UnknownCredential(CredentialId),
    /// A parent is missing, or the way up does not end.
    #[error("the record of mandate {0} leads to no person; the records are damaged")]
    NoWayUp(MandateId),
    /// The same id twice.
    #[error("{0} is on record already")]
    Repeated(String),
}

impl Records {
    /// Whether a mandate may be added: a new id below a mandate that is here.
    pub fn check_mandate(&self, record: &MandateRecord) -> Result<(), RecordsError> {
        if self.mandates.contains_key(&record.id) {
            return Err(RecordsError::Repeated(record.id.to_string()));
        }
        record.parent.map_or(Ok(()), |parent| self.mandate(parent).map(drop))
    }

    /// Adds a mandate.
    pub fn add_mandate(&mut self, record: MandateRecord) -> Result<(), RecordsError> {
        self.check_mandate(&record)?;
        if let Some(parent) = record.parent {
            self.children.entry(parent).or_default().insert(record.id);
        }
        self.mandates.insert(record.id, record);
        Ok(())
    }

    /// Whether a credential may be added: new ids for mandates that are here.
    pub fn check_credential(&self, record: &CredentialRecord) -> Result<(), RecordsError> {
        for minted in &record.minted {
            if self.credential_with.contains_key(&minted.id) {
                return Err(RecordsError::Repeated(minted.id.to_string()));
            }
            self.mandate(minted.mandate)?;
        }
        Ok(())
    }

    /// Adds a credential.
    pub fn add_credential(&mut self, record: CredentialRecord) -> Result<(), RecordsError> {
        self.check_credential(&record)?;
        let at = self.credentials.len();
        for minted in &record.minted {
            self.credential_with.insert(minted.id, at);
            self.credentials_of.entry(minted.mandate).or_default().insert(at);
        }
        self.credentials.push(record);
        Ok(())
    }

    /// Whether a revocation may be added: of something that is here.
    pub fn check_revocation(&self, revocation: &Revocation) -> Result<(), RecordsError> {
        match revocation.target {
            Name::Mandate(id) => self.mandate(id).map(drop),
            Name::Credential(id) => self.credential_with(id).map(drop),
            Name::Key(_) => Ok(()),
        }
    }

    /// Marks what was revoked, and remembers what is listed.
    pub fn add_revocation(&mut self, revocation: &Revocation) -> Result<(), RecordsError> {
        self.check_revocation(revocation)?;
        if let Name::Mandate(id) = revocation.target
            && let Some(record) = self.mandates.get_mut(&id)
        {
            record.revoked_at.get_or_insert(revocation.at);
        }
        let since = Moment { at: revocation.at, credentials: self.credentials.len() };
        self.revoked.entry(revocation.target).or_insert(since);
        for listed in &revocation.listed {
            let listing = Listing { since, expires_at: listed.expires_at };
            self.listed.entry(listed.name).or_insert(listing);
        }
        Ok(())
    }

    /// The mandate of that id.
    pub fn mandate(&self, id: MandateId) -> Result<&MandateRecord, RecordsError> {
        self.mandates.get(&id).ok_or(RecordsError::UnknownMandate(id))
    }

    /// All mandates, by id.
    pub fn mandates(&self) -> impl Iterator<Item = &MandateRecord> {
        self.mandates.values()
    }

    /// All credentials, in the order of minting.
    pub fn credentials(&self) -> &[CredentialRecord] {
        &self.credentials
    }

    /// The records of a chain, root first.
    pub fn chain(&self, leaf: MandateId) -> Result<Vec<MandateRecord>, RecordsError> {
        let mut chain = Vec::new();
        let mut next = Some(leaf);
        while let Some(id) = next {
            if chain.len() > usize::from(MAX_DEPTH) {
                return Err(RecordsError::NoWayUp(leaf));
            }
            let record = self.mandate(id)?;
            next = record.parent;
            chain.push(record.clone());
        }
        chain.reverse();
        Ok(chain)
    }

    /// A mandate and every mandate below it, parents first.
    pub fn subtree(&self, top: MandateId) -> Vec<MandateId> {
        let mut found = vec![top];
        let mut at = 0;
        while let Some(id) = found.get(at) {
            found.extend(self.children.get(id).into_iter().flatten());
            at += 1;
        }
        found
    }

    /// The credentials in which a mandate has a link or block.
    pub fn credentials_of(&self, id: MandateId) -> impl Iterator<Item = &CredentialRecord> {
        let places = self.credentials_of.get(&id).into_iter().flatten();
        places.filter_map(|at| self.credentials.get(*at))
    }

    /// The credential with that link or block.
    pub fn credential_with(&self, id: CredentialId) -> Result<&CredentialRecord, RecordsError> {
        let place = self.credential_with.get(&id).and_then(|at| self.credentials.get(*at));
        place.ok_or(RecordsError::UnknownCredential(id))
    }

    /// Whether all mandates and credentials that have not ended by `ended` are the same here and there, were revoked and
    /// listed at the same times, and the same holders are stopped.
    pub(crate) fn says_the_same(&self, other: &Records, ended: UnixTime) -> bool {
        let mandates = |records: &Records| -> Vec<MandateRecord> {
            records.mandates().filter(|record| record.expires_at > ended).cloned().collect()
        };
        let credentials = |records: &Records| -> Vec<CredentialRecord> {
            records.credentials.iter().filter(|record| record.expires_at > ended).cloned().collect()
        };
        let stopped = |records: &Records| -> HashSet<(MandateId, PublicKey)> {
            records.stopping(ended).map(|record| (record.mandate, record.holder)).collect()
        };
        mandates(self) == mandates(other)
            && stopped(self) == stopped(other)
            && credentials(self) == credentials(other)
            && self.listed_after(ended) == other.listed_after(ended)
            && self.revoked_after(ended) == other.revoked_after(ended)
    }

    /// The names whose listing counts after `ended`.
    fn listed_after(&self, ended: UnixTime) -> HashMap<Name, (UnixTime, UnixTime)> {
        let counts = |(_, listing): &(&Name, &Listing)| listing.expires_at > ended;
        let times = |(name, listing): (&Name, &Listing)| (*name, (listing.since.at, listing.expires_at));
        self.listed.iter().filter(counts).map(times).collect()
    }

    /// What was revoked by name and would not have ended by `ended`.
    fn revoked_after(&self, ended: UnixTime) -> HashMap<Name, UnixTime> {
        let counts = |(name, _): &(&Name, &Moment)| self.end_of(name).is_some_and(|end| end > ended);
        self.revoked.iter().filter(counts).map(|(name, moment)| (*name, moment.at)).collect()
    }

    /// When what a name stands for ends by itself; a key never does.
    fn end_of(&self, name: &Name) -> Option<UnixTime> {
        match name {
            Name::Mandate(id) => self.mandates.get(id).map(|record| record.expires_at),
            Name::Credential(id) => {
                let mut links = self.credential_with(*id).ok()?.minted.iter();
                links.find(|minted| minted.id == *id).map(|minted| minted.expires_at)
            }
            Name::Key(_) => Some(UnixTime::MAX),
        }
    }

    /// When this was listed.
    pub fn listed_at(&self, name: &Name) -> Option<UnixTime> {
        self.listed.get(name).map(|listing| listing.since.at)
    }

    /// When this was revoked by name.
    pub fn revoked_at(&self, name: &Name) -> Option<UnixTime> {
        self.revoked.get(name).map(|moment| moment.at)
    }

    /// What was exported of a mandate to a key, in the order of minting, and whether that was stopped since: when one of
    /// these credentials was revoked by an id of it, or listed, and none was exported after that.
    pub fn held(&self, mandate: MandateId, holder: &PublicKey) -> Held<'_> {
        let places = self.credentials_of.get(&mandate).into_iter().flatten();
        let all = places.filter_map(|at| Some((*at, self.credentials.get(*at)?)));
        let own: Vec<(usize, &CredentialRecord)> =
            all.filter(|(_, record)| record.mandate == mandate && record.holder == *holder).collect();
        let last = own.last().map(|(at, _)| *at);
        let stops = own.iter().filter_map(|(_, record)| self.stop_of(record));
        let stop = stops.max_by_key(|moment| moment.credentials);
        let stopped_at =
            stop.filter(|moment| last.is_some_and(|last| last < moment.credentials)).map(|it| it.at);
        Held { credentials: own.into_iter().map(|(_, record)| record).collect(), stopped_at }
    }

    /// The last time that a link or block of a credential was revoked by its id or listed. One that had ended by itself
    /// entered no list, and was revoked all the same.
    fn stop_of(&self, record: &CredentialRecord) -> Option<Moment> {
        let names = record.minted.iter().map(|minted| Name::Credential(minted.id));
        let moments = names.flat_map(|name| {
            [self.revoked.get(&name).copied(), self.listed.get(&name).map(|listing| listing.since)]
        });
        moments.flatten().max_by_key(|moment| moment.credentials)
    }

    /// Credentials whose revocation stops a holder from getting another of a mandate that ends after `ended`.
    pub(crate) fn stopping(&self, ended: UnixTime) -> impl Iterator<Item = &CredentialRecord> {
        self.credentials.iter().filter(move |record| {
            let lives =
                || self.mandates.get(&record.mandate).is_some_and(|mandate| mandate.expires_at > ended);
            self.stop_of(record).is_some()
                && lives()
                && self.held(record.mandate, &record.holder).stopped_at.is_some()
        })
    }
}

impl Name {
    /// What our list holds of it.
    pub fn entry(&self) -> pact_revocation::Entry {
        match self {
            Name::Mandate(id) => pact_revocation::Entry::of_mandate(*id),
            Name::Credential(id) => id.entry(),
            Name::Key(key) => pact_revocation::Entry::of_key(&key.thumbprint()),
        }
    }
}
