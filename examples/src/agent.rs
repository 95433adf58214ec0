//! An agent: a key, and what it does with a credential.

use std::path::Path;

use base64::{
    Engine,
    engine::general_purpose::{GeneralPurpose, STANDARD, URL_SAFE},
};
use pact_holder::{Holder, SignError, call::tool_call, sign_dpop, sign_tenuo};
use pact_mandate::{
    Action, Json, PublicKey, UnixTime, json::JsonError, key::KeyError, keyfile::KeyFileError,
};
use pact_verifier::proof::{Audience, FreshProof};
use serde_json::Value;

use crate::mcp::ToolCall;

/// A software identity with a key of its own.
#[derive(Debug)]
pub struct Agent {
    holder: Holder,
}

/// A credential as the issuer handed it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A Tenuo warrant stack.
    Tenuo(String),
    /// A Biscuit token.
    Biscuit(String),
}

/// Why an agent sends nothing.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The system has no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// The seed makes no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The arguments are nothing that a strict reader takes.
    #[error("the arguments: {0}")]
    Arguments(#[from] JsonError),
    /// No proof.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A proof that has no JSON form.
    #[error("the proof has no JSON form: {0}")]
    Json(#[from] serde_json::Error),
}

impl Agent {
    /// An agent with a new key.
    pub fn new() -> Result<Agent, AgentError> {
        Ok(Agent { holder: Holder::from_seed(&random()?)? })
    }

    /// What an issuer must know of it.
    pub fn public_key(&self) -> &PublicKey {
        self.holder.public_key()
    }

    /// Writes its key to a new file of mode 0600.
    pub fn keep(&self, path: &Path) -> Result<(), KeyFileError> {
        self.holder.write_file(path)
    }

    /// The call with credential and proof, ready to be sent once. `action` is what the credential calls the tool.
    pub fn sign(
        &self,
        credential: &Credential,
        call: &ToolCall,
        action: &Action,
        audience: &Audience,
        now: UnixTime,
    ) -> Result<ToolCall, AgentError> {
        let arguments = Json::parse(call.arguments.to_string().as_bytes())?;
        let asked = tool_call(&call.tool, arguments)?;
        let mut signed = call.clone();
        match credential {
            Credential::Tenuo(stack) => {
                let fresh = FreshProof { id: random()?, issued_at: now };
                let proof = sign_tenuo(&self.holder, stack, action, &asked, audience, &fresh)?;
                if let Value::Object(members) = serde_json::to_value(proof)? {
                    signed.meta.extend(members);
                }
            }
            Credential::Biscuit(token) => {
                let proof = sign_dpop(&self.holder, token, &asked, audience, random()?, now)?;
                signed.headers.push(("Authorization".to_owned(), proof.authorization()));
                signed.headers.push(("DPoP".to_owned(), proof.dpop().to_owned()));
            }
        }
        Ok(signed)
    }
}

impl Credential {
    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            Credential::Tenuo(text) | Credential::Biscuit(text) => text,
        }
    }

    /// The same credential with one bit of its last signature turned over.
    #[must_use]
    pub fn tampered(&self) -> Credential {
        let turned = |engine: &GeneralPurpose, text: &str| {
            let mut bytes = engine.decode(text).unwrap_or_default();
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
            }
            engine.encode(bytes)
        };
        match self {
            Credential::Tenuo(text) => Credential::Tenuo(turned(&STANDARD, text)),
            Credential::Biscuit(text) => Credential::Biscuit(turned(&URL_SAFE, text)),
        }
    }
}

fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
