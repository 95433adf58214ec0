//! Making: keyring, mint, delegate, export, revoke.

pub mod chain;
pub mod delegate;
pub mod export;
pub mod limits;
pub mod mint;
pub mod record;

pub use chain::UnrevokedChain;
pub use export::{Export, ExportError, Order};
pub use record::{CredentialId, CredentialRecord, MandateRecord};
