//! Revocation lists: heads, bodies, deltas, and the compatible ones.

use std::sync::LazyLock;

use pact_mandate::{Format, Signer, jwks::KeySet};
use pact_revocation::{
    Body, Content, Delta, FloorInMemory, Head, Keeper, Published,
    compat::{biscuit::BiscuitList, tenuo},
};

use super::{Answer, reason, signed::signed_text};
use crate::golden::{Fault, call, key, list as golden};

/// A head, or the payload of one, which is then signed here; a body; a delta; a Tenuo or a Biscuit list.
pub fn lists(bytes: &[u8]) -> Answer {
    let answers = [head(bytes), payload(bytes), body(bytes), delta(bytes), compatible(bytes)];
    if answers.iter().any(Result::is_ok) {
        return Ok(());
    }
    Err(answers.into_iter().filter_map(Result::err).collect::<Vec<_>>().join("; "))
}

/// A head is judged by a keeper that holds list 1, with the body of list 2 at hand.
fn head(bytes: &[u8]) -> Answer {
    let (mut keeper, now) = (keeper().map_err(reason)?, call::now().map_err(reason)?);
    let examined = keeper.examine(bytes, now).map_err(reason)?;
    let (_, second) = published()?;
    let held = keeper.accept(&examined, Content::Body(second.body_bytes()), now);
    held.map(|_| ()).map_err(reason)
}

fn payload(bytes: &[u8]) -> Answer {
    let text = std::str::from_utf8(bytes).map_err(reason)?;
    let signed = signed_text::<Head>(text, &key::list_key().map_err(reason)?)?;
    head(&signed.to_bytes().map_err(reason)?)
}

/// Lists 1 and 2, made once.
fn published() -> Result<&'static (Published, Published), String> {
    static PUBLISHED: LazyLock<Result<(Published, Published), Fault>> =
        LazyLock::new(|| Ok((golden::first()?, golden::second()?)));
    PUBLISHED.as_ref().map_err(reason)
}

fn keeper() -> Result<Keeper, Fault> {
    let key = key::list_key()?;
    let keys = KeySet::new(vec![(key.key_id().clone(), *key.public_key())])?;
    let mut keeper = Keeper::new("board.example.org".parse()?, Format::Pact, keys, FloorInMemory::default())?;
    let (first, _) = published()?;
    keeper.accept_whole(&first.head_bytes()?, first.body_bytes(), call::now()?)?;
    Ok(keeper)
}

fn body(bytes: &[u8]) -> Answer {
    let body = Body::from_bytes(bytes).map_err(reason)?;
    assert_eq!(body.to_bytes(), bytes, "a body has two forms");
    Ok(())
}

fn delta(bytes: &[u8]) -> Answer {
    let delta = Delta::from_bytes(bytes).map_err(reason)?;
    assert_eq!(delta.to_bytes(), bytes, "a delta has two forms");
    Ok(())
}

fn compatible(bytes: &[u8]) -> Answer {
    let key = key::mandate_key().map_err(reason)?;
    let keys = KeySet::new(vec![(key.key_id().clone(), *key.public_key())]).map_err(reason)?;
    tenuo::open(bytes, &keys)
        .map(|_| ())
        .or_else(|_| BiscuitList::open(bytes, &keys).map(|_| ()))
        .map_err(reason)
}
