//! What the tests of this crate share: keys, a fixed clock, and a publisher.

use std::{collections::BTreeMap, time::Duration};

use pact_mandate::{IssuerId, Monotonic, Now, SecretKey, Signer, UnixTime, jwks::KeySet};

use crate::{Draft, Entry, Listed, Published};

/// 2027-01-02T03:04:05Z.
pub(crate) const T0: u64 = 1_798_859_045;

pub(crate) fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

/// Both clocks `seconds` after the start.
pub(crate) fn now(seconds: u64) -> Now {
    clocks(seconds, seconds)
}

/// The wall clock and the monotonic one, each so many seconds after the start.
pub(crate) fn clocks(wall: u64, monotonic: u64) -> Now {
    Now::new(at(T0 + wall), Monotonic::from_origin(Duration::from_secs(1_000 + monotonic)))
}

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

pub(crate) fn pinned(keys: &[&SecretKey]) -> KeySet {
    KeySet::new(keys.iter().map(|key| (key.key_id().clone(), *key.public_key())).collect()).unwrap()
}

pub(crate) fn issuer() -> IssuerId {
    "acme".parse().unwrap()
}

pub(crate) fn entry(number: u32) -> Entry {
    Entry::of_block(&number.to_be_bytes())
}

/// An entry that is listed for a day.
pub(crate) fn listed(number: u32) -> Listed {
    Listed { entry: entry(number), expires_at: at(T0 + 86_400) }
}

/// The first list, with these entries, signed at the start.
pub(crate) fn first(signer: &SecretKey, entries: impl IntoIterator<Item = u32>) -> Published {
    Draft::first(issuer()).revoke(entries.into_iter().map(listed)).sign(signer, at(T0)).unwrap()
}

/// The list after `previous`, with these entries more, signed so many seconds after the start.
pub(crate) fn next(
    previous: &Published,
    signer: &SecretKey,
    entries: impl IntoIterator<Item = u32>,
    seconds: u64,
) -> Published {
    Draft::after(previous).revoke(entries.into_iter().map(listed)).sign(signer, at(T0 + seconds)).unwrap()
}

/// All bodies and deltas of these lists, by name.
pub(crate) fn stored(lists: &[&Published]) -> BTreeMap<crate::BodyName, Vec<u8>> {
    let mut files = BTreeMap::new();
    for list in lists {
        files.insert(*list.body().name(), list.body_bytes().to_vec());
        files.extend(list.deltas().map(|(name, bytes)| (*name, bytes.to_vec())));
    }
    files
}
