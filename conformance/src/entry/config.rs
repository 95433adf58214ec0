//! What an operator writes: files, and the texts of keys.

use std::path::Path;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_issuer::{
    Keyring,
    keyring::{KeyEntry, Role, parse_board_keys},
};
use pact_mandate::{SecretKey, canonical};
use pact_sidecar::Config;
use pact_verifier::Policy;

use super::{Answer, reason};
use crate::golden::call;

/// A policy file; a sidecar's configuration; the keys of an issuer's keyring; `PACT_BOARD_KEYS`; a secret key.
pub fn config(bytes: &[u8]) -> Answer {
    let text = std::str::from_utf8(bytes).map_err(reason)?;
    let answers = [policy(text), sidecar(text), keyring(bytes), board_keys(text), secret(text)];
    if answers.iter().any(Result::is_ok) {
        return Ok(());
    }
    Err(answers.into_iter().filter_map(Result::err).collect::<Vec<_>>().join("; "))
}

/// One that is read must judge the golden call, whichever way.
fn policy(text: &str) -> Answer {
    let policy = Policy::from_toml(text).map_err(reason)?;
    if let Ok(call) = policy.judge(call::asked().map_err(reason)?) {
        assert_eq!(policy.permits(&call), Ok(()), "a policy refuses what it judged");
    }
    Ok(())
}

/// What is in effect is itself a configuration, with the same effect.
fn sidecar(text: &str) -> Answer {
    let read = |text| Config::from_toml(text, Path::new("/etc/pact")).map_err(reason);
    let config = read(text)?;
    let again = read(config.effective());
    assert_eq!(again.as_ref().map(Config::effective), Ok(config.effective()), "another effect when printed");
    Ok(())
}

/// Keys that go together can be published (K3), each in its own role (K1).
fn keyring(bytes: &[u8]) -> Answer {
    let entries: Vec<KeyEntry> = canonical::from_bytes(bytes).map_err(reason)?;
    let keyring = Keyring::new(entries).map_err(reason)?;
    for role in Role::ALL {
        let of_role = || keyring.entries().iter().filter(|entry| entry.role == role);
        let Some(latest) = of_role().map(|entry| entry.published_at).max() else { continue };
        let set = keyring.published(role, latest);
        assert!(set.is_ok(), "keys that go together cannot be published: {set:?}");
        let set = set.map_err(reason)?;
        let own = |key| of_role().any(|entry| entry.key == key);
        assert!(set.keys().iter().all(|(_, key)| own(*key)), "a key is published in another role");
    }
    Ok(())
}

fn board_keys(text: &str) -> Answer {
    let keys = parse_board_keys(text).map_err(reason)?;
    assert_eq!(keys.len(), text.split(',').count(), "an entry was passed over");
    Ok(())
}

/// A seed has one text.
fn secret(text: &str) -> Answer {
    let key = SecretKey::from_text(text.trim_end()).map_err(reason)?;
    assert_eq!(URL_SAFE_NO_PAD.encode(*key.seed()), text.trim_end(), "a seed has two texts");
    Ok(())
}
