//! The lists of all issuers at one moment.

use std::{collections::BTreeMap, sync::Arc};

use pact_mandate::{Format, IssuerId, Now};

use crate::{
    fresh::{Fresh, Stale},
    held::Held,
};

/// An immutable snapshot of the lists held, for a request to be judged by. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    held: Arc<BTreeMap<IssuerId, OfIssuer>>,
}

/// What one issuer publishes.
#[derive(Clone, Debug, Default)]
struct OfIssuer {
    pact: Option<Arc<Held>>,
    tenuo: Option<Arc<Held>>,
    biscuit: Option<Arc<Held>>,
}

impl Lists {
    /// Before the first list: nothing is fresh (protocol R5).
    pub fn none() -> Lists {
        Lists::default()
    }

    /// These and that one, in the place of the issuer's earlier list of the same kind.
    #[must_use]
    pub fn with(&self, held: impl Into<Arc<Held>>) -> Lists {
        let held = held.into();
        let mut all = BTreeMap::clone(&self.held);
        let of_issuer = all.entry(held.issuer().clone()).or_default();
        let slot = of_issuer.slot(held.kind());
        *slot = Some(held);
        Lists { held: Arc::new(all) }
    }

    /// Without that issuer, who is no longer trusted.
    #[must_use]
    pub fn without(&self, issuer: &IssuerId) -> Lists {
        let mut all = BTreeMap::clone(&self.held);
        all.remove(issuer);
        Lists { held: Arc::new(all) }
    }

    /// The issuer's list, when it is fresh and covers the format. This is the only way to ask whether something is revoked.
    ///
    /// Other issuers' lists neither help nor harm (protocol R4). Where an issuer's own list (`pact`) is held, it alone
    /// speaks; the compatible list of a format speaks only for an issuer of whom no own list was ever held.
    pub fn fresh(&self, issuer: &IssuerId, format: Format, now: Now) -> Result<Fresh<'_>, Stale> {
        let of_issuer = self.held.get(issuer).ok_or(Stale::NoList)?;
        let held = of_issuer.pact.as_ref().or(of_issuer.compatible(format)).ok_or(Stale::NoList)?;
        Fresh::judge(held, format, now)
    }

    /// The lists of one issuer, whatever their age.
    pub fn of(&self, issuer: &IssuerId) -> impl Iterator<Item = &Arc<Held>> {
        self.held.get(issuer).into_iter().flat_map(OfIssuer::iter)
    }

    /// All lists, whatever their age: for reports, not for judging.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Held>> {
        self.held.values().flat_map(OfIssuer::iter)
    }

    /// The issuers of whom a list is held.
    pub fn issuers(&self) -> impl Iterator<Item = &IssuerId> {
        self.held.keys()
    }
}

impl OfIssuer {
    fn slot(&mut self, kind: Format) -> &mut Option<Arc<Held>> {
        match kind {
            Format::Pact => &mut self.pact,
            Format::Tenuo => &mut self.tenuo,
            Format::Biscuit => &mut self.biscuit,
        }
    }

    fn compatible(&self, format: Format) -> Option<&Arc<Held>> {
        match format {
            Format::Pact => None,
            Format::Tenuo => self.tenuo.as_ref(),
            Format::Biscuit => self.biscuit.as_ref(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Held>> {
        [&self.pact, &self.tenuo, &self.biscuit].into_iter().flatten()
    }
}
