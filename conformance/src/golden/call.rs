//! The call that the golden proofs are for, and whom its verifier trusts.

use std::sync::Arc;

use pact_mandate::{Asked, Call, Json, KeyId, Monotonic, Now, Signer, UnixTime};
use pact_verifier::{
    Audience, Policy, RootKey, TrustSnapshot, TrustedIssuer,
    proof::params_digest,
    trust::{Projects, Speaks},
};

use super::{Fault, key, mandate::START};

/// The tool server's arguments, with a number and nesting.
pub const ARGUMENTS: &str = r#"{"cost":0.25,"lines":[1,2],"path":"a/b.txt"}"#;
/// `params` of the JSON-RPC request, without `_meta`.
pub const PARAMS: &str = r#"{"name":"read_file","arguments":{"cost":0.25,"lines":[1,2],"path":"a/b.txt"}}"#;
/// What that tool amounts to.
pub const POLICY: &str = r#"
[tools.read_file]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { arg = "cost" } }
unjudged = ["path", "lines"]
"#;

/// A minute after everything began.
pub fn now() -> Result<Now, Fault> {
    Ok(Now::new(UnixTime::try_from(START + 60)?, Monotonic::from_origin(std::time::Duration::ZERO)))
}

/// The sidecar's public URL.
pub fn audience() -> Result<Audience, Fault> {
    Ok("https://tools.example.org/mcp".parse()?)
}

/// The call as it was asked.
pub fn asked() -> Result<Asked, Fault> {
    Ok(Asked {
        tool: "read_file".to_owned(),
        arguments: Json::parse(ARGUMENTS.as_bytes())?,
        params: params_digest("tools/call", &Json::parse(PARAMS.as_bytes())?)?,
    })
}

/// The policy of the golden sidecar.
pub fn policy() -> Result<Policy, Fault> {
    Ok(Policy::from_toml(POLICY)?)
}

/// The call as the policy judges it.
pub fn call() -> Result<Call, Fault> {
    Ok(policy()?.judge(asked()?)?)
}

/// One issuer, whose root is the golden mandate key.
pub fn trust() -> Result<Arc<TrustSnapshot>, Fault> {
    let key = key::mandate_key()?;
    let root = RootKey::Ed25519 { id: KeyId::clone(key.key_id()), key: *key.public_key() };
    let formats = [pact_mandate::Format::Tenuo, pact_mandate::Format::Biscuit].into();
    let speaks = Speaks { formats, actions: vec!["*".parse()?], projects: Projects::All };
    let issuer = TrustedIssuer { id: "board.example.org".parse()?, roots: vec![root], speaks, bearer: false };
    Ok(Arc::new(TrustSnapshot::new(vec![issuer])?))
}
