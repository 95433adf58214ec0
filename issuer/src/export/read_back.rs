//! What was minted is opened again, through the front door that every verifier uses, before it may leave.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use pact_mandate::{Format, IssuerId, Monotonic, Now, SecretKey, Signer};
use pact_verifier::{
    ChainCache, Presented, RootKey, TrustSnapshot, TrustedIssuer, VerifiedChain,
    trust::{Projects, Speaks},
};

use super::{ExportError, Order};
use crate::record::CredentialRecord;

/// Opens `text` under our own key alone, and compares what a verifier finds with what is to be recorded.
pub(super) fn read_back(
    text: &str,
    record: &CredentialRecord,
    order: &Order,
    key: &SecretKey,
) -> Result<(), ExportError> {
    let format = record.format;
    let refused = |refusal| ExportError::Refused { format, refusal: Box::new(refusal) };
    let presented = match format {
        Format::Biscuit => Presented::biscuit(text),
        Format::Tenuo | Format::Pact => Presented::tenuo(text),
    };
    let presented = presented.map_err(|fault| refused(fault.into()))?;
    let now = Now::new(order.now, Monotonic::from_origin(Duration::ZERO));
    let chain = VerifiedChain::open(presented, &Arc::new(trust(format, key)?), &ChainCache::new(1), now)
        .map_err(refused)?;
    let differs = |what| Err(ExportError::NotReadBack { format, what });
    let ids = record.minted.iter().map(|minted| minted.id.to_string());
    if !ids.eq(chain.ids().iter().cloned()) {
        return differs("ids");
    }
    if chain.holder() != Some(&order.holder) || chain.root() != key.key_id() {
        return differs("holder or root");
    }
    if chain.expires_at() == record.expires_at { Ok(()) } else { differs("expiry") }
}

/// One issuer, us, with one key.
fn trust(format: Format, key: &SecretKey) -> Result<TrustSnapshot, ExportError> {
    let us: IssuerId = key.key_id().as_str().parse().map_err(|_| ExportError::UnusableKey(format))?;
    let root = RootKey::Ed25519 { id: key.key_id().clone(), key: *key.public_key() };
    let speaks = Speaks { formats: BTreeSet::from([format]), actions: Vec::new(), projects: Projects::All };
    let issuer = TrustedIssuer { id: us, roots: vec![root], speaks, bearer: false };
    TrustSnapshot::new(vec![issuer]).map_err(|_| ExportError::UnusableKey(format))
}
