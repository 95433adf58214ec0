//! `init`

use std::path::Path;

use pact_issuer::{
    keyring::{KeyEntry, Role, derived_key, parse_board_keys},
    store::Store,
};
use pact_mandate::{SecretKey, Signer, UnixTime, limits::MAX_LIFETIME_SECONDS};
use serde_json::json;
use zeroize::Zeroizing;

use crate::cli::{args::InitArgs, error::CliError, keys::fresh_key, output::Answer};

pub(crate) fn init(dir: &Path, args: &InitArgs, now: UnixTime) -> Result<Answer, CliError> {
    let mandate = if args.board_keys { board_keys()? } else { vec![fresh_key()?] };
    let mut keys: Vec<(KeyEntry, SecretKey)> = Vec::new();
    for (at, secret) in mandate.into_iter().enumerate() {
        let first = first_key(&secret, Role::Mandate, now);
        // The newest board key signs; what the others signed lives at most as long as anything may.
        let entry = if at == 0 { first } else { first.retired(now, now.plus(MAX_LIFETIME_SECONDS)) };
        keys.push((entry, secret));
    }
    let list = fresh_key()?;
    keys.push((first_key(&list, Role::List, now), list));
    let store = Store::create(dir, args.issuer.clone(), args.key_cache, keys, now)?;
    let keys: Vec<_> = store.state().keyring().entries().to_vec();
    let json = json!({ "issuer": args.issuer, "dir": dir, "keys": keys });
    let text = format!(
        "{} is the data folder of issuer {}. Its keys never leave it; back it up.\nNext: pact-issuer --dir {} mint --help",
        dir.display(),
        args.issuer,
        dir.display()
    );
    Ok(Answer::new(json, text))
}

fn first_key(secret: &SecretKey, role: Role, now: UnixTime) -> KeyEntry {
    KeyEntry::first(secret.key_id().clone(), role, *secret.public_key(), now)
}

fn board_keys() -> Result<Vec<SecretKey>, CliError> {
    let read = |name| std::env::var(name).ok().map(Zeroizing::new);
    match (read("PACT_BOARD_KEYS"), read("PACT_SIGNING_KEY")) {
        (Some(keys), _) => Ok(parse_board_keys(&keys)?),
        (None, Some(signing_key)) => Ok(vec![derived_key(&signing_key)?]),
        (None, None) => Err(CliError::NoBoardKeys),
    }
}
