//! The one way in which a credential leaves a data folder: by a command, or by the server that gives it anew.

use pact_mandate::{Format, MandateId, PublicKey, UnixTime};

use super::{ChainUnusable, Event, StoreError, Writer};
use crate::{
    export::{self, Credential, ExportError, Order},
    keyring::Role,
    records::Name,
};

/// Why no credential leaves.
#[derive(Debug, thiserror::Error)]
pub enum NotExported {
    /// The mandate cannot be built on.
    #[error("mandate cannot be used: {0}")]
    Chain(#[from] ChainUnusable),
    /// Whoever has the key must not hold anything any more.
    #[error("the key {0} was revoked; register a new key for its agent")]
    HolderRevoked(Box<PublicKey>),
    /// The format cannot carry it.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The data folder.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Writer<'_> {
    /// Makes, records and hands out a credential. All of it happens under the writer's lock, so no revocation can come
    /// between the look at the chain and the record.
    pub fn export(
        &mut self,
        mandate: MandateId,
        format: Format,
        order: &Order,
    ) -> Result<Credential, NotExported> {
        let state = self.state();
        if state.records().revoked_at(&Name::Key(order.holder)).is_some() {
            return Err(NotExported::HolderRevoked(Box::new(order.holder)));
        }
        let chain = state.unrevoked(mandate, order.now)?;
        let key = self.signer(Role::Mandate)?;
        let export = match format {
            Format::Tenuo => export::tenuo::export(&chain, order, &key)?,
            Format::Biscuit => export::biscuit::export(&chain, order, &key)?,
            Format::Pact => return Err(ExportError::NoCredential(format).into()),
        };
        let now: UnixTime = order.now;
        Ok(export.release(|record| self.commit(now, Event::Credential(record.clone())))?)
    }
}
