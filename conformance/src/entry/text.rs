//! JSON and key sets.

use pact_mandate::{Json, canonical, jwks::KeySet};

use super::{Answer, reason};

/// A JSON text: its canonical form, where there is one, is that of itself.
///
/// # Panics
///
/// When canonical JSON is refused, or has another canonical form.
pub fn json(bytes: &[u8]) -> Answer {
    let value = Json::parse(bytes).map_err(reason)?;
    let mut once = Vec::new();
    canonical::write(&value, &mut once).map_err(reason)?;
    let mut twice = Vec::new();
    let again = Json::parse(&once).map_err(reason);
    let written = again.and_then(|value| canonical::write(&value, &mut twice).map_err(reason));
    assert_eq!(written, Ok(()), "canonical JSON was refused");
    assert_eq!(once, twice, "canonical JSON has another canonical form");
    Ok(())
}

/// A published key set: what is read is published as a document that is read the same.
///
/// # Panics
///
/// When it is read differently.
pub fn key_set(bytes: &[u8]) -> Answer {
    let set = KeySet::from_document(bytes).map_err(reason)?;
    let again = KeySet::from_document(set.to_document().as_bytes());
    assert_eq!(again.as_ref(), Ok(&set), "a key set was published as another");
    Ok(())
}
