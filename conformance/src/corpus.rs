//! Valid inputs for each entry point: where mutation starts.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use pact_mandate::chainlog::Entry;

use crate::golden::{
    Fault, biscuit, call, issuer, key, list, mandate as golden, proof as proofs, receipt, tenuo,
};

/// Inputs, every one of which its entry point accepts.
pub type Inputs = Vec<Vec<u8>>;

/// For [`crate::entry::mandate`]: signed mandates and their payloads.
pub fn mandate() -> Result<Inputs, Fault> {
    let (root, child) = (golden::root()?, golden::child()?);
    let payloads = [root.payload().to_vec(), child.payload().to_vec()];
    Ok([root.signed().to_bytes()?, child.signed().to_bytes()?].into_iter().chain(payloads).collect())
}

/// For [`crate::entry::key_set`]: documents of ours and of others.
pub fn key_set() -> Result<Inputs, Fault> {
    let own = key::cases()?;
    let own = own.get("key.set").map(|text| text.clone().into_bytes());
    let foreign = r#"{"keys":[{"kty":"RSA","kid":"r","n":"AQAB","e":"AQAB"},{"crv":"Ed25519","kid":"e","kty":"OKP","key_ops":["verify"],"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    Ok(own.into_iter().chain([foreign.as_bytes().to_vec()]).collect())
}

/// For [`crate::entry::json`].
pub fn json() -> Result<Inputs, Fault> {
    let texts = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt","cost":0.25},"_meta":{}}}"#,
        r#"[null,true,false,-0,1e3,4.50,9007199254740991,"\u20ac$\u000f\"\\\/\ud83d\ude00",{"":[]}]"#,
    ];
    Ok(texts.iter().map(|text| text.as_bytes().to_vec()).collect())
}

/// For [`crate::entry::cbor_stack`]: a stack and its payloads.
pub fn cbor_stack() -> Result<Inputs, Fault> {
    Ok([tenuo::stack()?].into_iter().chain(tenuo::payloads()?).collect())
}

/// For [`crate::entry::biscuit_token`]: a token and its second block (the first one alone names no holder).
pub fn biscuit_token() -> Result<Inputs, Fault> {
    Ok([biscuit::token()?].into_iter().chain(biscuit::blocks()?).collect())
}

/// For [`crate::entry::proof`]: the members of `_meta` for either format, a proof, its claims.
pub fn proof() -> Result<Inputs, Fault> {
    let (token, dpop) = (proofs::token_text()?, proofs::dpop()?);
    let meta = serde_json::json!({"pact/credential": token, "pact/proof": {"dpop": dpop}}).to_string();
    let claims = proofs::cases()?.remove("proof.dpop.claims").ok_or("there is no golden proof")?;
    Ok([proofs::p1_meta()?, meta, dpop, claims].map(String::into_bytes).into())
}

/// For [`crate::entry::config`]: policies, a sidecar's configuration, a keyring, `PACT_BOARD_KEYS`, a secret key.
pub fn config() -> Result<Inputs, Fault> {
    let policies = [call::POLICY, "identity = true\n"].map(str::to_owned);
    let secrets = [key::mandate_key()?, key::list_key()?].map(|key| URL_SAFE_NO_PAD.encode(*key.seed()));
    let [new, old] = &secrets;
    let board_keys = format!("new={new}, old={old}=");
    let others = [SIDECAR.to_owned(), board_keys, issuer::keyring()?, format!("{new}\n")];
    Ok(policies.into_iter().chain(others).map(String::into_bytes).collect())
}

/// A sidecar's configuration with most of what there is to configure.
const SIDECAR: &str = r#"listen = "127.0.0.1:8080"
admin_listen = "127.0.0.1:9090"
audience = "https://tools.example.org/mcp"
policy = "policy.toml"
state_dir = "state"
[upstream]
url = "http://127.0.0.1:9000/mcp"
answer_timeout = "2m"
[limits]
body_bytes = 1048576
recheck = "1s"
[keys]
hard = "1h"
[receipts]
to = "file"
path = "receipts"
rotate_after = "12h"
on_full = "permit"
[[issuers]]
id = "acme"
roots = ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"]
keys_url = "https://acme.example/keys"
list_keys = ["ours:FxJ2H2xNyXu2dSMNCtDaPDtUxE6mPkZ5hGR6cXxeVnA"]
lists_url = "https://acme.example/list"
[issuers.speaks]
formats = ["tenuo", "biscuit"]
actions = ["task.*"]
projects = ["web"]
"#;

/// For [`crate::entry::lists`]: a head, its payload, a body, a delta, the two compatible lists.
pub fn lists() -> Result<Inputs, Fault> {
    let second = list::second()?;
    let payload = second.head().payload().to_vec();
    let own = [second.head_bytes()?, payload, second.body_bytes().to_vec(), list::delta()?];
    Ok(own.into_iter().chain(list::compatible()?).collect())
}

/// For [`crate::entry::receipts`]: a file, and what stands in its lines.
pub fn receipts() -> Result<Inputs, Fault> {
    let contents = [Entry::of_sorted(&receipt::permit()?)?, Entry::of_sorted(&receipt::sampled()?)?];
    let contents = contents.map(|entry| entry.as_bytes().to_vec());
    Ok([receipt::log()?.concat().into_bytes()].into_iter().chain(contents).collect())
}
