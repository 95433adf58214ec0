//! What is left for the curious when the story is over: an agent's key and credential, the published keys and lists as
//! files, and commands that use them.

use std::{fs, io, path::Path, time::Duration};

use serde_json::Value;

use crate::{
    mcp::{McpClient, McpError},
    stage::{ISSUER, Stage},
    story::Remaining,
};

/// How often the files are fetched anew. A list counts for a minute.
const EVERY: Duration = Duration::from_secs(5);

/// Where the head of the list stands, and the folder of its bodies.
const LIST: &str = ".well-known/pact-revocations/pact";

/// Why there is no invitation.
#[derive(Debug, thiserror::Error)]
pub enum InvitationError {
    /// A file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A key file.
    #[error(transparent)]
    KeyFile(#[from] pact_mandate::keyfile::KeyFileError),
    /// A document that does not come.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// A head that names no body.
    #[error("the published list names no body")]
    NoBody,
}

/// Writes the files, and returns what to tell.
pub async fn prepare(stage: &Stage, remaining: &Remaining) -> Result<String, InvitationError> {
    let folder = stage.folder();
    remaining.agent.keep(&folder.join("agent-c.key"))?;
    fs::write(folder.join("agent-c.tenuo"), remaining.tenuo.text())?;
    fs::write(folder.join("trust.toml"), trust_file())?;
    mirror(&stage.client, &stage.issuer.url(), folder).await?;
    Ok(words(stage, folder))
}

/// Fetches what the issuer publishes again and again, so that the files stay fresh.
pub async fn keep_fresh(stage: &Stage) {
    loop {
        tokio::time::sleep(EVERY).await;
        // A document that does not come makes the files age, which is what they should do then.
        let _ = mirror(&stage.client, &stage.issuer.url(), stage.folder()).await;
    }
}

async fn mirror(client: &McpClient, issuer: &str, folder: &Path) -> Result<(), InvitationError> {
    fs::create_dir_all(folder.join(LIST))?;
    for name in [".well-known/pact-keys.json", ".well-known/pact-list-keys.json"] {
        fs::write(folder.join(name), client.fetch(&format!("{issuer}/{name}")).await?)?;
    }
    let head = client.fetch(&format!("{issuer}/{LIST}")).await?;
    let body = body_of(&head).ok_or(InvitationError::NoBody)?;
    fs::write(folder.join(LIST).join(&body), client.fetch(&format!("{issuer}/{LIST}/{body}")).await?)?;
    Ok(fs::write(folder.join("head"), head)?)
}

/// The name of the body that a head names. Whoever believes the head checks both.
fn body_of(head: &[u8]) -> Option<String> {
    let envelope: Value = serde_json::from_slice(head).ok()?;
    let payload: Value = serde_json::from_str(envelope.get("payload")?.as_str()?).ok()?;
    let name = payload.pointer("/entries/sha256")?.as_str()?;
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).then(|| name.to_owned())
}

fn trust_file() -> String {
    format!(
        r#"[[issuers]]
id = "{ISSUER}"
formats = ["tenuo", "biscuit"]
actions = ["order.read", "order.refund"]
projects = ["shop", "warehouse"]
keys = ".well-known/pact-keys.json"
[issuers.list]
keys = ".well-known/pact-list-keys.json"
head = "head"
bodies = "{LIST}"
"#
    )
}

fn words(stage: &Stage, folder: &Path) -> String {
    let (url, admin, issuer) = (&stage.url, &stage.admin_url, stage.issuer.url());
    let folder = folder.display();
    format!(
        r#"
Everything stays up until you press Ctrl-C.
  tools, through the sidecar   {url}
  the sidecar's admin port     {admin}/readyz  /livez  /metrics
  the issuer's keys and lists  {issuer}/.well-known/pact-keys.json  /.well-known/pact-revocations/pact
  keys, configuration, records {folder}

In another terminal, in this checkout:

  cargo build --bins --features pact-verifier/cli && export PATH="$PWD/target/debug:$PATH"

  # agent-c signs one call, and curl sends it
  refund() {{ pact-holder sign --request --key {folder}/agent-c.key --tenuo {folder}/agent-c.tenuo \
    --audience {url} --tool refund_order --action order.refund \
    --arguments '{{"project":"shop","order":7,"amount_usd":'$1'}}'; }}
  refund 9.99 | curl -s --data-binary @- -H 'content-type: application/json' \
    -H 'accept: application/json, text/event-stream' {url}
  refund 1000 | curl -s --data-binary @- -H 'content-type: application/json' \
    -H 'accept: application/json, text/event-stream' {url}

  # the same call judged offline, from files alone
  refund 9.99 | pact-verify explain --trust {folder}/trust.toml \
    --policy {folder}/policy.toml --audience {url} --request - --without-replay
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_names_its_body() {
        let head = br#"{"payload":"{\"entries\":{\"sha256\":\"ab-_9\"}}","signature":"x"}"#;
        assert_eq!(body_of(head).as_deref(), Some("ab-_9"));
        for head in [&br#"{"payload":"{\"entries\":{\"sha256\":\"../../x\"}}"}"#[..], b"{}", b"", b"\"x\""] {
            assert_eq!(body_of(head), None);
        }
    }
}
