//! Rung 1: a chain whose every signature, link and lifetime was judged, up to a root of this trust snapshot.

use std::{fmt, sync::Arc};

use pact_mandate::{Format, IssuerId, KeyId, Now, PublicKey, ScopeItem, UnixTime, key::Thumbprint};

use crate::{
    cache::{CacheKey, ChainCache},
    format::{self, Opened},
    presented::Presented,
    refusal::{Class, Refusal},
    trust::{TrustSnapshot, TrustedIssuer},
};

/// A verified chain. Nobody has proven to hold it yet, and no list was asked.
#[derive(Clone)]
pub struct VerifiedChain {
    opened: Arc<Opened>,
    presented: Presented,
    trust: Arc<TrustSnapshot>,
}

/// An issuer that may not say what its credential says (protocol K2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssuerFault {
    /// Not for credentials of that form.
    #[error("{issuer} is not trusted for credentials of the format {format}")]
    FormatNotSpoken {
        /// Who.
        issuer: IssuerId,
        /// The format.
        format: Format,
    },
    /// Not for that action in that project.
    #[error("{issuer} is not trusted to grant {needed}")]
    ScopeNotSpoken {
        /// Who.
        issuer: IssuerId,
        /// What the call needs.
        needed: ScopeItem,
    },
    /// A call that names no project cannot be covered.
    #[error("the call names no project, so nothing can grant it")]
    NoProject,
    /// Gone from the configuration.
    #[error("{0} is no longer trusted")]
    Gone(IssuerId),
}

impl VerifiedChain {
    /// Verifies the credential, or finds these very bytes among those that were verified under this very trust
    /// (protocol C7). There is no other way to a `VerifiedChain`.
    pub fn open(
        presented: Presented,
        trust: &Arc<TrustSnapshot>,
        cache: &ChainCache,
        now: Now,
    ) -> Result<VerifiedChain, Refusal> {
        let key = CacheKey::of(&presented, trust);
        let opened = if let Some(opened) = cache.get(&key, now) {
            opened
        } else {
            let opened = Arc::new(open(&presented, trust, now.wall)?);
            cache.insert(key, &opened, &presented, now);
            opened
        };
        let chain = VerifiedChain { opened, presented, trust: Arc::clone(trust) };
        chain.check(now.wall)?;
        Ok(chain)
    }

    /// What a cached chain must still satisfy at this moment.
    fn check(&self, now: UnixTime) -> Result<(), Refusal> {
        if self.opened.expires_at <= now {
            return Err(Refusal::Expired(self.opened.expires_at));
        }
        let issuer = self.trusted_issuer()?;
        let format = self.format();
        if issuer.speaks.covers_format(format) {
            Ok(())
        } else {
            Err(IssuerFault::FormatNotSpoken { issuer: issuer.id.clone(), format }.into())
        }
    }

    /// Its form.
    pub fn format(&self) -> Format {
        self.presented.format()
    }

    /// Whose root it hangs from.
    pub fn issuer(&self) -> &IssuerId {
        &self.opened.issuer
    }

    /// The root key that really verified it.
    pub fn root(&self) -> &KeyId {
        &self.opened.root
    }

    /// The thumbprint of that key, by which lists and receipts name it.
    pub fn root_thumbprint(&self) -> Option<Thumbprint> {
        self.opened.root_thumbprint
    }

    /// The key that must prove possession; `None` for a Biscuit that names no holder.
    pub fn holder(&self) -> Option<&PublicKey> {
        self.opened.holder.as_ref()
    }

    /// The ids of its warrants or blocks, root first.
    pub fn ids(&self) -> &[String] {
        &self.opened.ids
    }

    /// The first moment at which one of its links no longer counts.
    pub fn expires_at(&self) -> UnixTime {
        self.opened.expires_at
    }

    /// The issuer from which it was imported (protocol C6).
    pub fn source(&self) -> Option<&IssuerId> {
        self.opened.source.as_ref()
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    pub(crate) fn presented(&self) -> &Presented {
        &self.presented
    }

    pub(crate) fn trusted_issuer(&self) -> Result<&TrustedIssuer, IssuerFault> {
        self.trust.issuer(&self.opened.issuer).ok_or_else(|| IssuerFault::Gone(self.opened.issuer.clone()))
    }
}

/// The walker of the presented format.
fn open(presented: &Presented, trust: &TrustSnapshot, now: UnixTime) -> Result<Opened, Refusal> {
    match presented.format() {
        Format::Tenuo => Ok(format::tenuo::open(presented.bytes(), trust, now)?),
        // `Presented` has no maker for our own mandates: they are exported before they are presented.
        Format::Biscuit | Format::Pact => Ok(format::biscuit::open(presented.bytes(), trust, now)?),
    }
}

impl fmt::Debug for VerifiedChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifiedChain({} of {}, {:?})", self.format(), self.issuer(), self.ids())
    }
}

impl IssuerFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            IssuerFault::FormatNotSpoken { .. } => "issuer_format",
            IssuerFault::ScopeNotSpoken { .. } => "issuer_scope",
            IssuerFault::NoProject => "project_missing",
            IssuerFault::Gone(_) => "issuer_gone",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            IssuerFault::FormatNotSpoken { .. } | IssuerFault::Gone(_) => Class::Unauthenticated,
            IssuerFault::ScopeNotSpoken { .. } | IssuerFault::NoProject => Class::Forbidden,
        }
    }
}
