//! The walk down a stack, from a trusted root to the last holder. Of every warrant the signature is verified first, over
//! its raw bytes and under the key that must have made it; only then is it read, and compared with the one before.

use std::collections::BTreeSet;

use pact_mandate::{Format, IssuerId, KeyId, PublicKey, UnixTime};
use sha2::{Digest, Sha256};

use super::{
    effort::Effort,
    envelope::{self, Envelope},
    fault::{FormFault, LinkFault, TenuoFault},
    keys::Keys,
    link,
    warrant::{Grant, Warrant},
};
use crate::trust::TrustSnapshot;

/// A chain that holds: every warrant signed, linked, alive, and no wider than the one before it.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) issuer: IssuerId,
    pub(super) root: KeyId,
    pub(super) ids: Vec<[u8; 16]>,
    /// The root's key and every holder's, each once.
    pub(super) keys: Keys,
    pub(super) holder: PublicKey,
    /// Which issuer it was imported from (protocol C6).
    pub(super) source: Option<IssuerId>,
    pub(super) leaf: Warrant,
    /// Tools for which an ancestor of the leaf has an entry of its own.
    pub(super) restricted: BTreeSet<String>,
}

/// A fault of the warrant that the walk stands at.
pub(super) enum Fault {
    Form(FormFault),
    Link(LinkFault),
}

/// The walk so far.
struct Walk {
    now: UnixTime,
    keys: Keys,
    effort: Effort,
    ids: Vec<[u8; 16]>,
    restricted: BTreeSet<String>,
    source: Option<IssuerId>,
    /// The warrant before, the digest of its payload, and its holder.
    above: Option<(Warrant, [u8; 32])>,
    /// Who must have signed the next warrant.
    signer: PublicKey,
}

impl Chain {
    /// Judges a stack against the roots that are trusted.
    pub(super) fn open(stack: &[u8], trust: &TrustSnapshot, now: UnixTime) -> Result<Chain, TenuoFault> {
        let envelopes = envelope::split(stack)?;
        let at_root = |fault: Fault| fault.at(0);
        let first = envelopes.first().ok_or(super::fault::StackFault::Empty)?;
        let (issuer, root, key) = find_root(first, trust).map_err(at_root)?;
        let mut walk = Walk::from_root(*key, now);
        for (link, envelope) in envelopes.iter().enumerate() {
            walk.step(envelope).map_err(|fault| fault.at(link))?;
        }
        let (leaf, _) = walk.above.ok_or(super::fault::StackFault::Empty)?;
        Ok(Chain {
            issuer: issuer.clone(),
            root: root.clone(),
            ids: walk.ids,
            keys: walk.keys,
            holder: walk.signer,
            source: walk.source,
            leaf,
            restricted: walk.restricted,
        })
    }
}

/// The trusted root that the first warrant says it was issued by.
fn find_root<'t>(
    first: &Envelope<'_>,
    trust: &'t TrustSnapshot,
) -> Result<(&'t IssuerId, &'t KeyId, &'t PublicKey), Fault> {
    let (issuer, id, key) =
        trust.issuer_of_ed25519(first.unverified_issuer()?).ok_or(LinkFault::UntrustedRoot)?;
    if issuer.speaks.formats.contains(&Format::Tenuo) {
        Ok((&issuer.id, id, key))
    } else {
        Err(LinkFault::NotSpeaking.into())
    }
}

impl Walk {
    fn from_root(root: PublicKey, now: UnixTime) -> Walk {
        Walk {
            now,
            keys: Keys::from_root(root),
            effort: Effort::full(),
            ids: Vec::new(),
            restricted: BTreeSet::new(),
            source: None,
            above: None,
            signer: root,
        }
    }

    fn step(&mut self, envelope: &Envelope<'_>) -> Result<(), Fault> {
        self.check_signature(envelope)?;
        let warrant = Warrant::read(envelope.payload)?;
        if warrant.issuer != *self.signer.as_bytes() {
            return Err(LinkFault::WrongIssuer.into());
        }
        if self.ids.contains(&warrant.id) {
            return Err(LinkFault::DuplicateId.into());
        }
        link::check_times(&warrant, self.now)?;
        self.check_place(&warrant)?;
        self.signer = self.keys.get(&warrant.holder).map_err(FormFault::BadKey)?;
        self.ids.push(warrant.id);
        self.above = Some((warrant, Sha256::digest(envelope.payload).into()));
        Ok(())
    }

    fn check_signature(&self, envelope: &Envelope<'_>) -> Result<(), Fault> {
        if self.signer.verify(&envelope.signed_bytes(), &envelope.signature).is_ok() {
            return Ok(());
        }
        // What it says of its issuer only serves to name the fault.
        let named = envelope.unverified_issuer()?;
        Err(if named == self.signer.as_bytes() { LinkFault::BadSignature } else { LinkFault::WrongIssuer }
            .into())
    }

    /// Compares a warrant with the one above it, which from then on is an ancestor.
    fn check_place(&mut self, warrant: &Warrant) -> Result<(), Fault> {
        let Some((parent, hash)) = self.above.take() else {
            link::check_root(warrant)?;
            self.source.clone_from(&warrant.extensions.source);
            return Ok(());
        };
        link::check(&parent, &hash, warrant)?;
        link::check_grant(&parent, warrant, &self.restricted, &mut self.effort)?;
        if let Grant::Execution(tools) = parent.grant {
            self.restricted.extend(tools.into_keys().filter(|tool| tool != "*"));
        }
        Ok(())
    }
}

impl Fault {
    fn at(self, link: usize) -> TenuoFault {
        match self {
            Fault::Form(fault) => TenuoFault::Form { link, fault },
            Fault::Link(fault) => TenuoFault::Link { link, fault },
        }
    }
}

impl From<FormFault> for Fault {
    fn from(fault: FormFault) -> Fault {
        Fault::Form(fault)
    }
}

impl From<LinkFault> for Fault {
    fn from(fault: LinkFault) -> Fault {
        Fault::Link(fault)
    }
}
