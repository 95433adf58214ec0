#![doc = include_str!("../README.md")]

pub mod amount;
pub mod call;
pub mod canonical;
pub mod cbor;
pub mod ceilings;
pub mod chain;
pub mod chainlog;
pub mod format;
pub mod hex;
pub mod id;
pub mod json;
pub mod jwks;
pub mod key;
#[cfg(feature = "keyfile")]
pub mod keyfile;
pub mod limits;
pub mod mandate;
pub mod reissue;
pub mod scope;
pub mod signed;
pub mod time;

#[cfg(test)]
mod samples;

pub use amount::Amount;
pub use call::{Asked, Call, Judged};
pub use ceilings::Ceilings;
pub use chain::Chain;
pub use format::Format;
pub use id::{AgentId, HumanId, IssuerId, MandateId, ReissueId};
pub use json::Json;
pub use key::{KeyId, PublicKey, Signature, Signer};
#[cfg(feature = "keyfile")]
pub use keyfile::SecretKey;
pub use mandate::Mandate;
pub use reissue::Reissue;
pub use scope::{Action, Project, Scope, ScopeItem};
pub use signed::{Authentic, KeyRing, Signed, Statement};
pub use time::{Monotonic, Now, UnixTime, Validity};
