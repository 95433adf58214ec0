//! `sign-act`: what goes with a GET, a DELETE or a response in a session.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pact_holder::{
    Holder,
    act::{sign_dpop_act, sign_tenuo_act},
};
use pact_verifier::{
    Act,
    act::RequestId,
    proof::{Audience, FreshProof},
};
use serde_json::{Value, json};

use super::{CliError, KeyArgs, now, random, read_json, read_text};

#[derive(Args)]
pub(super) struct ActArgs {
    #[command(flatten)]
    key: KeyArgs,
    /// The file with a Tenuo warrant stack as it was exported; - for standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "biscuit", conflicts_with = "biscuit")]
    tenuo: Option<PathBuf>,
    /// The file with a Biscuit token as it was exported; - for standard input.
    #[arg(long, value_name = "FILE")]
    biscuit: Option<PathBuf>,
    /// The public URL of the sidecar, letter by letter as its configuration has it (`audience`).
    #[arg(long, value_name = "URL")]
    audience: Audience,
    /// The session's id: the value of Mcp-Session-Id.
    #[arg(long, value_name = "ID")]
    session: String,
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Subcommand)]
enum Deed {
    /// Open the session's stream (GET).
    Listen {
        /// The value of the header Last-Event-ID, when the request has one.
        #[arg(long, value_name = "ID")]
        last_event_id: Option<String>,
    },
    /// End the session (DELETE).
    Close,
    /// Answer a request of the tool server (POST of a JSON-RPC response).
    Respond {
        /// The whole response, byte for byte as it will be sent: JSON, or @FILE.
        #[arg(long, value_name = "JSON")]
        body: String,
    },
}

pub(super) fn sign(args: &ActArgs) -> Result<Value, CliError> {
    let holder = Holder::read_file(&args.key.key)?;
    let act = args.act()?;
    if let Some(path) = &args.biscuit {
        let token = read_text(path)?;
        let proof = sign_dpop_act(&holder, token.trim(), &act, &args.audience, random()?, now()?)?;
        let headers = json!({"Authorization": proof.authorization(), "DPoP": proof.dpop()});
        return Ok(json!({ "headers": headers }));
    }
    let stack = read_text(args.tenuo.as_deref().ok_or(CliError::Missing("--tenuo"))?)?;
    let fresh = FreshProof { id: random()?, issued_at: now()? };
    let headers = sign_tenuo_act(&holder, stack.trim(), &act, &args.audience, &fresh)?;
    Ok(json!({"headers": serde_json::to_value(headers)?}))
}

impl ActArgs {
    fn act(&self) -> Result<Act, CliError> {
        Ok(match &self.deed {
            Deed::Listen { last_event_id } => Act::listen(&self.session, last_event_id.clone()),
            Deed::Close => Act::close(&self.session),
            Deed::Respond { body } => {
                let response = read_json("--body", body)?;
                let id = response.get("id").cloned().and_then(RequestId::from_json);
                let id = id.ok_or(CliError::Missing("the id of --body"))?;
                Act::respond(&self.session, id, super::text_of(body)?.as_bytes())
            }
        })
    }
}
