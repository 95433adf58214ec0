//! What every credential is judged on here; made once, so that a fuzzer spends its time on the decoders.

use std::sync::{Arc, LazyLock};

use pact_mandate::{Call, Now, SecretKey};
use pact_verifier::{Audience, ChainCache, Policy, Presented, TrustSnapshot};

use super::reason;
use crate::golden::{Fault, biscuit, call, key, proof, tenuo};

/// The verifier's side of the golden call, and the parts of golden credentials that mutated ones are put beside.
pub(super) struct Stage {
    pub(super) trust: Arc<TrustSnapshot>,
    pub(super) policy: Policy,
    pub(super) audience: Audience,
    pub(super) call: Call,
    pub(super) now: Now,
    /// Holds nothing: every input is judged whole.
    pub(super) cache: ChainCache,
    pub(super) issuer: SecretKey,
    pub(super) holder: SecretKey,
    pub(super) root_warrant: Vec<u8>,
    pub(super) authority_block: Vec<u8>,
    pub(super) token: Presented,
    pub(super) dpop_header: String,
}

/// The one stage.
pub(super) fn stage() -> Result<&'static Stage, String> {
    static STAGE: LazyLock<Result<Stage, Fault>> = LazyLock::new(Stage::new);
    STAGE.as_ref().map_err(reason)
}

impl Stage {
    fn new() -> Result<Stage, Fault> {
        let ([root_warrant, _], [authority_block, _]) = (tenuo::payloads()?, biscuit::blocks()?);
        Ok(Stage {
            trust: call::trust()?,
            policy: call::policy()?,
            audience: call::audience()?,
            call: call::call()?,
            now: call::now()?,
            cache: ChainCache::new(0),
            issuer: key::mandate_key()?,
            holder: key::holder_key()?,
            root_warrant,
            authority_block,
            token: Presented::biscuit(&proof::token_text()?)?,
            dpop_header: proof::dpop_input()?.split('.').next().unwrap_or_default().to_owned(),
        })
    }
}
