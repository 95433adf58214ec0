//! From any id up to the person at the root, with every state on the way.

#[cfg(test)]
mod tests;

use pact_mandate::{
    AgentId, Format, HumanId, KeyId, KeyRing, Mandate, MandateId, PublicKey, UnixTime, signed::SignedError,
};
use serde::Serialize;

use crate::{
    record::{CredentialId, CredentialRecord, MandateRecord, Minted},
    records::{Name, Records, RecordsError},
};

/// The whole chain of one mandate or credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// The person at the root.
    pub human: HumanId,
    /// The mandates, root first.
    pub chain: Vec<TracedMandate>,
    /// The credential that was asked for, or all that were exported of the last mandate.
    pub credentials: Vec<TracedCredential>,
}

/// One mandate of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedMandate {
    /// Its id.
    pub id: MandateId,
    /// Who granted it: the person at the root, else the parent's holder.
    pub granted_by: String,
    /// Who holds it.
    pub holder: AgentId,
    /// What was signed; absent when the record cannot be opened, and `state` says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandate: Option<Mandate>,
    /// The key that signed it, by its own word.
    pub key: KeyId,
    /// Where it stands.
    pub state: State,
}

/// One credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedCredential {
    /// Its form.
    pub format: Format,
    /// The holder's key.
    pub holder: PublicKey,
    /// The key that signed it.
    pub key: KeyId,
    /// When it was minted.
    pub issued_at: UnixTime,
    /// Its links or blocks, root first.
    pub minted: Vec<TracedMinted>,
    /// Where the whole of it stands.
    pub state: State,
}

/// One link or block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedMinted {
    /// Its id.
    pub id: CredentialId,
    /// The mandate that it stands for.
    pub mandate: MandateId,
    /// First second at which it no longer counts.
    pub expires_at: UnixTime,
    /// Whether this is the id that was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// Where it stands.
    pub state: State,
}

/// Where a mandate or credential stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum State {
    /// It counts.
    Live,
    /// It was revoked by name.
    Revoked {
        /// When.
        at: UnixTime,
    },
    /// It is on the lists because of something else that was revoked, above it or beside it.
    Listed {
        /// When.
        at: UnixTime,
    },
    /// A key of it was revoked: the one that signed it, or its holder's (protocol R3).
    KeyRevoked {
        /// Which key.
        key: PublicKey,
        /// When.
        at: UnixTime,
    },
    /// What stands above it no longer counts.
    DeadAbove {
        /// The mandate that decides.
        mandate: MandateId,
    },
    /// It ended by itself.
    Expired {
        /// When.
        at: UnixTime,
    },
    /// Its record cannot be opened.
    Unreadable {
        /// Why.
        why: String,
    },
}

/// Traces a mandate: its chain, and what was exported of it. `keys` are all that ever signed mandates here, dead ones too.
pub fn mandate(
    records: &Records,
    keys: &impl KeyRing,
    id: MandateId,
    now: UnixTime,
) -> Result<Trace, RecordsError> {
    let tracer = Tracer { records, keys, now };
    let chain = tracer.chain(&records.chain(id)?);
    let exported = records.credentials_of(id).filter(|credential| credential.mandate == id);
    let credentials = exported.map(|credential| tracer.credential(credential, &chain, None)).collect();
    trace(id, chain, credentials)
}

/// Traces a link or block: the chain of its credential's mandate, and that credential.
pub fn credential(
    records: &Records,
    keys: &impl KeyRing,
    id: CredentialId,
    now: UnixTime,
) -> Result<Trace, RecordsError> {
    let tracer = Tracer { records, keys, now };
    let record = records.credential_with(id)?;
    let chain = tracer.chain(&records.chain(record.mandate)?);
    let credentials = vec![tracer.credential(record, &chain, Some(id))];
    trace(record.mandate, chain, credentials)
}

fn trace(
    leaf: MandateId,
    chain: Vec<TracedMandate>,
    credentials: Vec<TracedCredential>,
) -> Result<Trace, RecordsError> {
    let human = chain.first().and_then(|root| root.granted_by.parse().ok());
    Ok(Trace { human: human.ok_or(RecordsError::NoWayUp(leaf))?, chain, credentials })
}

struct Tracer<'a, K> {
    records: &'a Records,
    keys: &'a K,
    now: UnixTime,
}

impl<K: KeyRing> Tracer<'_, K> {
    fn chain(&self, chain: &[MandateRecord]) -> Vec<TracedMandate> {
        let mut dead = None;
        let mut traced = Vec::with_capacity(chain.len());
        for record in chain {
            let link = self.mandate(record, dead);
            if dead.is_none() && link.state != State::Live {
                dead = Some(record.id);
            }
            traced.push(link);
        }
        traced
    }

    fn mandate(&self, record: &MandateRecord, dead: Option<MandateId>) -> TracedMandate {
        let name = Name::Mandate(record.id);
        let opened = record.signed.clone().open(self.keys);
        let state = match &opened {
            Err(fault) => State::Unreadable { why: fault.to_string() },
            Ok(mandate) => self
                .revoked(&name)
                .or_else(|| self.key_revoked(mandate.key()))
                .or_else(|| dead.map(|mandate| State::DeadAbove { mandate }))
                .or_else(|| self.listed(&name))
                .unwrap_or_else(|| self.ended(record.expires_at)),
        };
        TracedMandate {
            id: record.id,
            granted_by: record.granted_by.clone(),
            holder: record.holder.clone(),
            mandate: opened.ok().map(|opened| opened.statement().clone()),
            key: record.signed.unverified_key_id().clone(),
            state,
        }
    }

    fn credential(
        &self,
        record: &CredentialRecord,
        chain: &[TracedMandate],
        asked: Option<CredentialId>,
    ) -> TracedCredential {
        let dead = |id: MandateId| chain.iter().any(|link| link.id == id && link.state != State::Live);
        let minted: Vec<TracedMinted> = record
            .minted
            .iter()
            .map(|minted| TracedMinted {
                id: minted.id,
                mandate: minted.mandate,
                expires_at: minted.expires_at,
                asked: asked == Some(minted.id),
                state: self.minted(record, minted, dead(minted.mandate)),
            })
            .collect();
        let state = minted.iter().map(|minted| &minted.state).find(|state| **state != State::Live);
        TracedCredential {
            format: record.format,
            holder: record.holder,
            key: record.key.clone(),
            issued_at: record.issued_at,
            state: state.cloned().unwrap_or(State::Live),
            minted,
        }
    }

    fn minted(&self, credential: &CredentialRecord, minted: &Minted, dead: bool) -> State {
        let Some(signer) = self.keys.key(&credential.key) else {
            let unknown = SignedError::UnknownKey(credential.key.clone());
            return State::Unreadable { why: unknown.to_string() };
        };
        let name = Name::Credential(minted.id);
        // The agent holds the last one; those before it are in the issuer's own hands.
        let holds = credential.id() == Some(minted.id);
        self.revoked(&name)
            .or_else(|| self.key_revoked(signer))
            .or_else(|| self.key_revoked(&credential.holder).filter(|_| holds))
            .or_else(|| self.listed(&name))
            .unwrap_or_else(|| match self.ended(minted.expires_at) {
                State::Live if dead => State::DeadAbove { mandate: minted.mandate },
                ended => ended,
            })
    }

    fn revoked(&self, name: &Name) -> Option<State> {
        self.records.revoked_at(name).map(|at| State::Revoked { at })
    }

    fn key_revoked(&self, key: &PublicKey) -> Option<State> {
        self.records.revoked_at(&Name::Key(*key)).map(|at| State::KeyRevoked { key: *key, at })
    }

    fn listed(&self, name: &Name) -> Option<State> {
        self.records.listed_at(name).map(|at| State::Listed { at })
    }

    fn ended(&self, expires_at: UnixTime) -> State {
        if expires_at <= self.now { State::Expired { at: expires_at } } else { State::Live }
    }
}
