//! Rung 3: nothing of the chain is on the fresh list of the issuer that it hangs from.

use std::time::Duration;

use pact_mandate::{Format, IssuerId, Now, hex};
use pact_revocation::{Entry, Fresh, ListVersion, Lists};

use crate::{chain::VerifiedChain, held::HeldChain, refusal::Refusal};

/// A held chain that no list stops, by a list that was fresh at the moment of asking.
#[derive(Debug)]
pub struct LiveChain {
    held: HeldChain,
    asked: AskedList,
}

/// Which list was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedList {
    /// Its version.
    pub version: ListVersion,
    /// Its age by both clocks (protocol R5).
    pub age: Duration,
}

/// A chain that its issuer's list names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is on the revocation list of {issuer} (version {version})", what = self.what())]
pub struct Revoked {
    /// Whose list.
    pub issuer: IssuerId,
    /// Its version.
    pub version: ListVersion,
    /// The link whose id is listed, from the root as 0; `None` for a key or a mandate of the chain.
    pub link: Option<usize>,
}

impl LiveChain {
    /// Asks the chain's own issuer's list for every link, mandate and key of the chain (protocol R3, R4), and for its
    /// source (C6).
    pub fn check(held: HeldChain, lists: &Lists, now: Now) -> Result<LiveChain, Refusal> {
        let asked = ask(held.chain(), lists, now)?;
        Ok(LiveChain { held, asked })
    }

    /// The chain in its holder's hands.
    pub fn held(&self) -> &HeldChain {
        &self.held
    }

    /// Which list was asked.
    pub fn asked(&self) -> AskedList {
        self.asked
    }

    pub(crate) fn into_held(self) -> HeldChain {
        self.held
    }
}

/// The one look-up, for a call and for what stays open after it (protocol R9).
pub(crate) fn ask(chain: &VerifiedChain, lists: &Lists, now: Now) -> Result<AskedList, Refusal> {
    let issuer = chain.issuer();
    let stale = |stale| Refusal::Stale { issuer: issuer.clone(), stale };
    let fresh = lists.fresh(issuer, chain.format(), now).map_err(stale)?;
    if let Some(entry) = chain.opened().entries.iter().find(|entry| fresh.contains(entry)) {
        return Err(revoked(chain, &fresh, entry).into());
    }
    if let Some(source) = chain.source() {
        fresh.check_source(source, now).map_err(stale)?;
    }
    Ok(AskedList { version: fresh.version(), age: fresh.age() })
}

fn revoked(chain: &VerifiedChain, fresh: &Fresh<'_>, entry: &Entry) -> Revoked {
    let named = |id: &String| entry_of_id(chain.format(), id).as_ref() == Some(entry);
    Revoked {
        issuer: chain.issuer().clone(),
        version: fresh.version(),
        link: chain.ids().iter().position(named),
    }
}

/// The entry of a link's id in its text form (`tnu_wrt_` and hex, or hex).
fn entry_of_id(format: Format, id: &str) -> Option<Entry> {
    let digits = id.strip_prefix("tnu_wrt_").unwrap_or(id);
    match format {
        Format::Tenuo => Some(Entry::of_warrant(&hex::decode_exactly(digits)?)),
        Format::Biscuit => Some(Entry::of_block(&hex::decode(digits)?)),
        Format::Pact => None,
    }
}

impl Revoked {
    fn what(&self) -> String {
        match self.link {
            Some(link) => format!("link {link} of the credential"),
            None => "a key or a mandate of the credential".to_owned(),
        }
    }
}
