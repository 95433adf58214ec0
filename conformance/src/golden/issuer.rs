//! The issuer's data folder: one line of its journal for each kind of event.

use std::fs;

use pact_issuer::{
    CredentialId, CredentialRecord, MandateRecord,
    keyring::{KeyEntry, Role},
    record::Minted,
    revoke,
    store::{Event, Store},
};
use pact_mandate::{Format, SecretKey, Signer, UnixTime, canonical, limits::MAX_LIFETIME_SECONDS};

use super::{Cases, Fault, key, mandate as golden, mandate::START};

/// Seconds for which the golden key sets may be cached.
const KEY_CACHE: u64 = 300;

pub(super) fn cases() -> Result<Cases, Fault> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("data");
    let keys = vec![first(key::mandate_key()?, Role::Mandate)?, first(key::list_key()?, Role::List)?];
    let mut store = Store::create(&dir, "board.example.org".parse()?, KEY_CACHE, keys, at(0)?)?;
    commit(&mut store)?;
    let mut cases = lines(&fs::read_to_string(dir.join("journal.jsonl"))?)?;
    store.write()?.compact(0, at(MAX_LIFETIME_SECONDS)?)?;
    cases.extend(lines(&fs::read_to_string(dir.join("journal.jsonl"))?)?.remove_entry("journal.left_out"));
    Ok(cases)
}

/// The first keys of the folder, as the journal has them.
pub fn keyring() -> Result<String, Fault> {
    let (mandate, _) = first(key::mandate_key()?, Role::Mandate)?;
    let (list, _) = first(key::list_key()?, Role::List)?;
    Ok(String::from_utf8(canonical::to_bytes(&[mandate, list])?)?)
}

/// A mandate is granted and exported; the mandate key moves on; the mandate is revoked.
fn commit(store: &mut Store) -> Result<(), Fault> {
    let mut writer = store.write()?;
    let record = MandateRecord::from(&golden::root()?);
    let id = record.id;
    writer.commit(at(0)?, Event::Mandate(record))?;
    writer.commit(at(60)?, Event::Credential(credential()?))?;
    let next = SecretKey::from_seed(&[4; 32])?;
    let next = KeyEntry::next(next.key_id().clone(), Role::Mandate, *next.public_key(), at(120)?);
    writer.commit(at(120)?, Event::Key(next))?;
    let state = writer.state();
    let last = state.last_expiry(state.keyring().active(Role::Mandate)?);
    let changed = state.keyring().take_over(Role::Mandate, KEY_CACHE, last, at(420)?)?;
    writer.commit(at(420)?, Event::KeysChanged(changed))?;
    let revocation = revoke::mandate(writer.state().records(), id, at(480)?)?;
    writer.commit(at(480)?, Event::Revocation(revocation))?;
    Ok(())
}

fn credential() -> Result<CredentialRecord, Fault> {
    let root = golden::root()?;
    let (mandate, expires_at) = (root.statement().id(), at(1800)?);
    let minted = |id, expires_at| Minted { mandate, id: CredentialId::Warrant([id; 16]), expires_at };
    Ok(CredentialRecord {
        format: Format::Tenuo,
        mandate,
        holder: *key::holder_key()?.public_key(),
        key: key::mandate_key()?.key_id().clone(),
        issued_at: at(60)?,
        expires_at,
        minted: vec![minted(0x11, root.statement().validity().expires_at), minted(0x22, expires_at)],
    })
}

fn first(key: SecretKey, role: Role) -> Result<(KeyEntry, SecretKey), Fault> {
    Ok((KeyEntry::first(key.key_id().clone(), role, *key.public_key(), at(0)?), key))
}

fn at(seconds: u64) -> Result<UnixTime, Fault> {
    Ok(UnixTime::try_from(START + seconds)?)
}

/// The lines by the name of their event.
fn lines(journal: &str) -> Result<Cases, Fault> {
    const NAMES: [(&str, &str); 7] = [
        ("opened", "journal.opened"),
        ("mandate", "journal.mandate"),
        ("credential", "journal.credential"),
        ("key", "journal.key"),
        ("keys_changed", "journal.keys_changed"),
        ("revocation", "journal.revocation"),
        ("left_out", "journal.left_out"),
    ];
    let mut cases = Cases::new();
    for line in journal.lines() {
        let named = NAMES.iter().find(|(event, _)| line.contains(&format!("\"event\":{{\"{event}\":")));
        let (_, name) = named.ok_or("an event without a golden case")?;
        cases.insert(name, line.to_owned());
    }
    Ok(cases)
}
