//! The story that the quickstart plays: a person grants, an agent hands on, calls are made, keys change, a mandate is
//! revoked, the issuer falls silent.

use std::io::{self, Write};

use pact_mandate::{Action, Format, MandateId};
use serde_json::{Value, json};

use crate::{
    agent::{Agent, AgentError, Credential},
    mcp::{Answer, McpError, ToolCall},
    report::Report,
    stage::{Grant, IssuerError, Stage},
};

mod calls;
mod granting;
mod stops;

/// How the story goes on after its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The issuer is stopped, to see everything refused.
    IssuerStops,
    /// Everything stays up, for the curious.
    StaysUp,
}

/// Everybody and everything that the story is about.
pub struct Story<'a, W> {
    stage: &'a mut Stage,
    report: &'a mut Report<W>,
    cast: Cast,
}

/// The agents and what they were granted.
struct Cast {
    /// Holds what the person granted, and hands on.
    a: MandateId,
    /// Works under A's mandate.
    b: Agent,
    /// B's mandate, and its credential in each format.
    b_mandate: MandateId,
    b_credentials: [Credential; 2],
    /// Works under a mandate of its own.
    c: Agent,
    c_credentials: [Credential; 2],
    /// Has a key and no mandate.
    stranger: Agent,
}

/// What works after the last step, when everything stays up.
pub struct Remaining {
    /// An agent with a live mandate.
    pub agent: Agent,
    /// Its credential.
    pub tenuo: Credential,
}

/// Why the story breaks off.
#[derive(Debug, thiserror::Error)]
pub enum StoryError {
    /// The report could not be written.
    #[error("the report cannot be written: {0}")]
    Report(#[from] io::Error),
    /// An agent made no proof.
    #[error("an agent: {0}")]
    Agent(#[from] AgentError),
    /// The issuer refused what the story needs.
    #[error("the issuer: {0}")]
    Issuer(#[from] IssuerError),
    /// No answer.
    #[error("a call: {0}")]
    Mcp(#[from] McpError),
}

/// A call as the story tells it.
#[derive(Clone, Debug)]
struct Attempt {
    tool: &'static str,
    action: &'static str,
    arguments: Value,
}

impl Attempt {
    /// B's own work: inside every limit.
    fn refund(amount_usd: f64) -> Attempt {
        let arguments = json!({"project": "shop", "order": 1041, "amount_usd": amount_usd});
        Attempt { tool: "refund_order", action: "order.refund", arguments }
    }

    /// The same with one argument set to another value.
    fn with(mut self, name: &str, value: Value) -> Attempt {
        if let Value::Object(arguments) = &mut self.arguments {
            arguments.insert(name.to_owned(), value);
        }
        self
    }

    fn look_up() -> Attempt {
        let arguments = json!({"project": "shop", "order": 1041});
        Attempt { tool: "look_up_order", action: "order.read", arguments }
    }
}

/// What the tool says when the standing call reaches it.
const REFUNDED: &str = "refunded 12.5 USD for order 1041 of shop";

impl<'a, W: Write> Story<'a, W> {
    /// Plays everything, to the end.
    pub async fn play(
        stage: &'a mut Stage,
        report: &'a mut Report<W>,
        ending: Ending,
    ) -> Result<Remaining, StoryError> {
        let cast = granting::grant(stage, report)?;
        let mut story = Story { stage, report, cast };
        for format in [Format::Tenuo, Format::Biscuit] {
            story.calls(format).await?;
        }
        story.rotation().await?;
        story.revocation().await?;
        if ending == Ending::IssuerStops {
            story.silence().await?;
        }
        let Cast { c, c_credentials: [tenuo, _], .. } = story.cast;
        Ok(Remaining { agent: c, tenuo })
    }

    /// Signs and sends.
    async fn send(
        &self,
        agent: &Agent,
        credential: &Credential,
        attempt: &Attempt,
    ) -> Result<Answer, StoryError> {
        let call = self.signed(agent, credential, attempt)?;
        Ok(self.stage.client.call(&self.stage.url, &call).await?)
    }

    fn signed(
        &self,
        agent: &Agent,
        credential: &Credential,
        attempt: &Attempt,
    ) -> Result<ToolCall, StoryError> {
        let call = ToolCall::new(attempt.tool, attempt.arguments.clone());
        let action: Action = attempt.action.parse().map_err(IssuerError::from)?;
        Ok(agent.sign(credential, &call, &action, &self.stage.audience, self.stage.now())?)
    }
}

impl Cast {
    fn b_credential(&self, format: Format) -> &Credential {
        of_format(&self.b_credentials, format)
    }
}

fn of_format(credentials: &[Credential; 2], format: Format) -> &Credential {
    let [tenuo, biscuit] = credentials;
    if format == Format::Tenuo { tenuo } else { biscuit }
}

fn exported(stage: &mut Stage, mandate: MandateId, agent: &Agent) -> Result<[Credential; 2], IssuerError> {
    let key = *agent.public_key();
    let tenuo = Credential::Tenuo(stage.issuer.export(mandate, Format::Tenuo, key)?);
    let biscuit = Credential::Biscuit(stage.issuer.export(mandate, Format::Biscuit, key)?);
    Ok([tenuo, biscuit])
}
