//! Every sentence of protocol R4 to R7 for our own list, with a fixed clock.

mod age;
mod belief;
mod content;
mod floor;
mod successor;

use pact_mandate::{SecretKey, signed::SignedError};

use super::*;
use crate::{
    Draft, FloorInMemory, Listed, Lists, Published, SourceTime, Stale,
    testing::{T0, at, clocks, entry, first, issuer, key, listed, next, now, pinned},
};

fn keeper(signer: &SecretKey) -> Keeper {
    Keeper::new(issuer(), Format::Pact, pinned(&[signer]), FloorInMemory::default()).unwrap()
}

fn offer(keeper: &mut Keeper, list: &Published, now: Now) -> Result<Arc<Held>, ListRefusal> {
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now)
}

fn code(outcome: Result<Arc<Held>, ListRefusal>) -> &'static str {
    outcome.map_or_else(|refusal| refusal.code(), |_| "accepted")
}

fn lists(keeper: &Keeper) -> Lists {
    keeper.held().map_or(Lists::none(), |held| Lists::none().with(Arc::clone(held)))
}

fn stale(keeper: &Keeper, now: Now) -> &'static str {
    lists(keeper).fresh(&issuer(), Format::Tenuo, now).map_or_else(|stale| stale.code(), |_| "fresh")
}

/// A list 2 that says it follows `one` but holds only these.
fn following(
    one: &Published,
    signer: &SecretKey,
    listed: impl IntoIterator<Item = Listed>,
    seconds: u64,
) -> Published {
    let honest = Draft::first(issuer()).revoke(listed).sign(signer, at(T0)).unwrap();
    honest.signed_as(signer, one.version().next().unwrap(), Some(*one.body().name()), at(T0 + seconds))
}
