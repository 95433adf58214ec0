#![doc = include_str!("../README.md")]

pub mod chain;
pub mod compatible;
pub mod delegate;
pub mod export;
pub mod keyring;
pub mod limits;
pub mod mint;
pub mod publish;
pub mod record;
pub mod records;
pub mod reissue;
pub mod revoke;
pub mod serve;
pub mod store;
pub mod trace;

pub use chain::UnrevokedChain;
pub use export::{Export, ExportError, Order};
pub use keyring::Keyring;
pub use record::{CredentialId, CredentialRecord, MandateRecord};
pub use records::Records;
