//! A first policy for a tool server, from what it says of its tools. It is for a person to read and change: nothing that a
//! tool server says of itself is believed by a running sidecar.

use pact_mandate::Project;
use pact_verifier::{Policy, policy::PolicyError};

use crate::{
    config::{HttpUrl, UrlError},
    fault::Fault,
};

mod client;
mod seen;
mod write;

use seen::SeenTool;

/// What to suggest a policy for, and how.
#[derive(Clone, Debug)]
pub struct Suggestion {
    upstream: HttpUrl,
    project: Project,
    style: Style,
}

/// What stands in it beside the tools and their arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// An action of its own for each tool.
    pub own_actions: bool,
    /// What each tool is described as now: described otherwise, it is held back until a person has read that.
    pub definitions: bool,
}

/// Why there is no suggestion.
#[derive(Debug, thiserror::Error)]
pub enum SuggestError {
    /// The address.
    #[error("--upstream must be {0}")]
    Url(#[from] UrlError),
    /// TLS towards the tool server.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// Neither revision of the protocol got an answer.
    #[error("the tool server does not list its tools: {modern} (2026-07-28); {legacy} (2025-11-25)")]
    NoList {
        /// What became of the question as revision 2026-07-28 asks it.
        modern: ListFault,
        /// What became of it after a handshake of revision 2025-11-25.
        legacy: ListFault,
    },
    /// No tool that a policy could name.
    #[error("the tool server lists no tool that a policy could name")]
    NoTools,
    /// More than a policy file holds.
    #[error("the policy for all tools would be longer than a policy file may be: {0}")]
    TooLong(PolicyError),
}

/// Why a tool server's list was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListFault {
    /// The question cannot be sent.
    #[error("it cannot be reached")]
    Unreachable,
    /// No answer in time.
    #[error("it does not answer")]
    Silent,
    /// The answer is none that could be read.
    #[error("{0}")]
    Unreadable(Box<Fault>),
    /// An answer of another kind.
    #[error("it answers with status {0}")]
    Status(u16),
    /// A refusal of its own.
    #[error("it answers with the error {0}")]
    Error(String),
    /// More pages, or more tools, than anybody reads.
    #[error("its list has no end")]
    Endless,
}

impl Suggestion {
    /// Takes the parts together.
    pub fn new(upstream: &str, project: Project, style: Style) -> Result<Suggestion, SuggestError> {
        Ok(Suggestion { upstream: HttpUrl::parse(upstream)?, project, style })
    }

    /// Asks the tool server, and writes the policy: one that [`Policy::from_toml`] takes.
    pub async fn write(&self) -> Result<String, SuggestError> {
        let tools = client::tools(&self.upstream).await?;
        self.text_for(&tools)
    }

    fn text_for(&self, tools: &[SeenTool]) -> Result<String, SuggestError> {
        if !tools.iter().any(SeenTool::can_be_named) {
            return Err(SuggestError::NoTools);
        }
        let text = write::policy(&self.upstream, &self.project, self.style, tools);
        match Policy::from_toml(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(SuggestError::TooLong(error)),
        }
    }
}

#[cfg(test)]
mod tests;
