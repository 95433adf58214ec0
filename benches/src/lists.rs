//! A list of a million ids.

use pact_mandate::{Format, IssuerId, Now, SecretKey, Signer, jwks::KeySet};
use pact_revocation::{Draft, Entry, FloorInMemory, Keeper, Listed, Lists};

use crate::world::Failure;

/// How many ids.
pub const MILLION: u32 = 1_000_000;

/// The list as it is published: head and body.
pub struct MillionList {
    head: Vec<u8>,
    body: std::sync::Arc<[u8]>,
    keys: KeySet,
    issuer: IssuerId,
}

impl MillionList {
    /// Lists a million warrants, whose credentials end at a hundred different times.
    pub fn publish(now: Now) -> Result<MillionList, Failure> {
        let lister = SecretKey::from_seed(&[4; 32])?;
        let issuer: IssuerId = "million".parse()?;
        let warrants = (0..MILLION).map(|number| {
            let expires_at = now.wall.plus(3600 + u64::from(number % 100) * 60);
            Listed { entry: nth(number), expires_at }
        });
        let published = Draft::first(issuer.clone())
            .covering([Format::Tenuo])
            .revoke(warrants)
            .sign(&lister, now.wall)?;
        let keys = KeySet::new(vec![(lister.key_id().clone(), *lister.public_key())])?;
        Ok(MillionList { head: published.head_bytes()?, body: published.body_bytes().clone(), keys, issuer })
    }

    /// Bytes on the wire, head and body, for each id.
    pub fn wire_bytes_per_id(&self) -> f64 {
        bytes_per_id(self.head.len() + self.body.len())
    }

    /// Whose list.
    pub fn issuer(&self) -> &IssuerId {
        &self.issuer
    }

    /// Loads it as a verifier does.
    pub fn load(&self, now: Now) -> Result<Lists, Failure> {
        let mut keeper =
            Keeper::new(self.issuer.clone(), Format::Pact, self.keys.clone(), FloorInMemory::default())?;
        Ok(Lists::none().with(keeper.accept_whole(&self.head, &self.body, now)?))
    }
}

/// Spread over a million ids.
pub fn bytes_per_id(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / f64::from(MILLION)
}

/// The `number`-th listed id.
pub fn nth(number: u32) -> Entry {
    let mut id = [0x5a; 16];
    id.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
    Entry::of_warrant(&id)
}
