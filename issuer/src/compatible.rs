//! What the two lists hold that other verifiers read: it follows from the revocations, in their order (board rule 5.5).

use pact_mandate::{Format, UnixTime};

use crate::{record::CredentialId, records::Name, revoke::Revocation};

/// The ids of both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compatible {
    tenuo: CompatibleIds,
    biscuit: CompatibleIds,
}

/// The ids of one of them, in the order of their revocation, and its number: one more for each revocation that added at
/// least one id of the format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompatibleIds {
    version: u64,
    ids: Vec<(CredentialId, UnixTime)>,
}

impl Compatible {
    /// Without ids, under the numbers that revocations gave the lists which are not at hand any more.
    pub fn numbered(tenuo: u64, biscuit: u64) -> Compatible {
        let without_ids = |version| CompatibleIds { version, ids: Vec::new() };
        Compatible { tenuo: without_ids(tenuo), biscuit: without_ids(biscuit) }
    }

    /// Lists what a revocation names, and raises the numbers.
    pub fn add(&mut self, revocation: &Revocation) {
        for listed in &revocation.listed {
            if let Name::Credential(id) = listed.name {
                self.list(id, listed.expires_at);
            }
        }
        for (format, ids) in [(Format::Tenuo, &mut self.tenuo), (Format::Biscuit, &mut self.biscuit)] {
            ids.version = ids.version.saturating_add(u64::from(revocation.raises(format)));
        }
    }

    /// Lists one id on the list of its format, whose number counts it already.
    pub fn list(&mut self, id: CredentialId, expires_at: UnixTime) {
        let ids = match id {
            CredentialId::Warrant(_) => &mut self.tenuo,
            CredentialId::Block(_) => &mut self.biscuit,
        };
        ids.ids.push((id, expires_at));
    }

    /// The ids of that list; `None` for our own format.
    pub fn of(&self, format: Format) -> Option<&CompatibleIds> {
        match format {
            Format::Tenuo => Some(&self.tenuo),
            Format::Biscuit => Some(&self.biscuit),
            Format::Pact => None,
        }
    }
}

impl CompatibleIds {
    /// The number of the list.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The ids that have not expired at `now`, in the order in which they are listed.
    pub fn unexpired(&self, now: UnixTime) -> impl Iterator<Item = CredentialId> {
        self.ids.iter().filter(move |(_, expires_at)| *expires_at > now).map(|(id, _)| *id)
    }
}
