//! Requests, and what is judged among them: routed, given a credential and a proof, sent, and tried once more when only the
//! clocks differed.

use std::sync::Arc;

use pact_mandate::{Action, Asked, Json};

use super::{
    Relay,
    answer::ServerMessage,
    credential::{Credential, Wanted},
    exchange::{self, Answer, Manner},
    message::{Id, Members, Message},
    refused::Refused,
    sign, upstream,
    upstream::Upstream,
};
use crate::call::TOOLS_CALL;

impl Refused {
    /// The answer to a request of the client.
    pub(super) fn answer(&self, id: &Id, message: &Message) -> Vec<u8> {
        match message.method() {
            Some(TOOLS_CALL) => {
                let tool = message.name().unwrap_or("a tool");
                self.tool_answer(id, tool, message.version().is_some())
            }
            _ => self.error_answer(id),
        }
    }
}

/// The one line that answers a request, and how it came.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) line: Vec<u8>,
    pub(super) manner: Manner,
}

impl Refused {
    /// Over HTTP some refusals are for the client itself; the answer of a tool would hide them.
    fn reply(&self, id: &Id, message: &Message) -> Reply {
        let is_tools = message.method() == Some(TOOLS_CALL);
        if is_tools && !(message.came_by_http() && self.is_for_the_client()) {
            return Reply { line: self.answer(id, message), manner: Manner::PLAIN };
        }
        let manner = Manner { status: self.http_status(), streamed: false };
        Reply { line: self.error_answer(id), manner }
    }
}

impl Relay {
    /// Answers a request.
    pub(super) async fn answer(&self, id: &Id, message: &Message) -> Reply {
        let method = message.method().unwrap_or_default();
        let answered = match method {
            TOOLS_CALL => self.call(id, message).await,
            "tools/list" => self.list(id, message).await,
            "initialize" => self.initialize(id, message).await,
            // What the sidecar judges beside tools must be told to us: nothing else says its action.
            _ if self
                .bridge
                .upstreams
                .iter()
                .any(|upstream| upstream.config.actions.contains_key(method)) =>
            {
                self.call(id, message).await
            }
            _ => self.pass(0, id, message, &Members::default()).await,
        };
        match answered {
            Ok(Answer::Line(message, manner)) => Reply { line: message.into_line(), manner },
            Ok(Answer::Refused(refused)) | Err(refused) => {
                tracing::info!(method, code = refused.code(), "refused");
                refused.reply(id, message)
            }
        }
    }

    /// Sends a request with these members in its `_meta`.
    pub(super) async fn pass(
        &self,
        at: usize,
        id: &Id,
        message: &Message,
        ours: &Members,
    ) -> Result<Answer, Refused> {
        Ok(self.pass_dated(at, id, message, ours).await?.0)
    }

    /// The same, with the date that the answer bears.
    async fn pass_dated(
        &self,
        at: usize,
        id: &Id,
        message: &Message,
        ours: &Members,
    ) -> Result<(Answer, Option<String>), Refused> {
        let upstream = self.upstream(at)?;
        let (agreed, most) = (self.session.agreed(at), upstream.config.answer_timeout);
        let response = upstream.post(message, message.with_meta(ours), &agreed, most).await?;
        let (date, heads) = (upstream::date(&response), response.headers().clone());
        let answer = exchange::read(response, id, upstream.config.idle_timeout, self, at).await;
        if let (Some("initialize"), Answer::Line(line, _)) = (message.method(), &answer) {
            self.session.initialized(at, &heads, agreed_version(line).as_deref());
        }
        Ok((answer, date))
    }

    pub(super) fn upstream(&self, at: usize) -> Result<&Upstream, Refused> {
        self.bridge.upstreams.get(at).ok_or_else(|| Refused::here("internal", "there is no such upstream"))
    }

    /// Every server is asked; the first one's answer counts.
    async fn initialize(&self, id: &Id, message: &Message) -> Result<Answer, Refused> {
        let first = self.pass(0, id, message, &Members::default()).await;
        for at in 1..self.bridge.upstreams.len() {
            match self.pass(at, id, message, &Members::default()).await {
                Ok(Answer::Line(..)) => {}
                Ok(Answer::Refused(refused)) | Err(refused) => {
                    tracing::warn!(code = refused.code(), upstream = at, "a server was not initialized");
                }
            }
        }
        first
    }

    /// A request that the sidecar judges.
    async fn call(&self, id: &Id, message: &Message) -> Result<Answer, Refused> {
        let asked = sign::asked(message)?;
        let at = self.route(&asked.tool).await;
        let upstream = self.upstream(at)?;
        let wanted = self.wanted(at, &asked).await?;
        let now = self.bridge.clock.now();
        let picked = self.bridge.wallet.pick(&upstream.config.url, &wanted, now).await;
        let (credential, pocket) = picked.map_err(|fault| Refused::here(fault.code(), fault.to_string()))?;
        let prove = || self.prove(upstream, &credential, &wanted.action, &asked);
        let (answer, date) = self.pass_dated(at, id, message, &prove()?).await?;
        let refused = match &answer {
            Answer::Refused(refused) => refused,
            Answer::Line(..) => {
                self.session.call_permitted();
                return Ok(answer);
            }
        };
        if refused.is_about_life() {
            pocket.spend(&credential).await;
        }
        let here = self.bridge.clock.now().wall;
        let offset =
            date.filter(|_| refused.is_about_time()).and_then(|date| upstream.offset.follow(&date, here));
        let Some(offset) = offset else { return Ok(answer) };
        tracing::warn!(
            url = %upstream.config.url, offset, code = refused.code(),
            "the sidecar's clock is ahead of this machine's by so many seconds; proofs are dated by it from now on. Set the clocks"
        );
        self.pass(at, id, message, &prove()?).await
    }

    fn prove(
        &self,
        upstream: &Upstream,
        credential: &Arc<Credential>,
        action: &Action,
        asked: &Asked,
    ) -> Result<Members, Refused> {
        upstream.check_bound(credential)?;
        let now = upstream.offset.there(self.bridge.clock.now().wall);
        sign::proven(&self.bridge.holder, credential, action, asked, &upstream.config.audience, now)
    }

    /// The server that has the tool; where nobody says, the first.
    async fn route(&self, tool: &str) -> usize {
        let upstreams = &self.bridge.upstreams;
        let find = || {
            upstreams
                .iter()
                .position(|upstream| upstream.config.actions.contains_key(tool) || upstream.lists(tool))
        };
        if upstreams.len() == 1 {
            return 0;
        }
        if find().is_none() {
            for at in 0..upstreams.len() {
                self.learn(at).await;
            }
        }
        find().unwrap_or(0)
    }

    /// What the call needs: in the operator's words, in the sidecar's, or, where the tool is called as its action is, in the
    /// call's own.
    async fn wanted(&self, at: usize, asked: &Asked) -> Result<Wanted, Refused> {
        let upstream = self.upstream(at)?;
        let known = || upstream.wanted(&asked.tool, &asked.arguments);
        if known().is_none() && !upstream.lists(&asked.tool) {
            self.learn(at).await;
        }
        if let Some(wanted) = known() {
            return Ok(wanted);
        }
        let action = asked.tool.parse().map_err(|_| {
            let message = "nobody says which action this tool is; name it under `actions` of the upstream";
            Refused::here("not_signed", message)
        })?;
        let project = asked.arguments.get("project").and_then(Json::as_str);
        Ok(Wanted { action, project: project.and_then(|project| project.parse().ok()) })
    }

    /// Looks at a server's list of tools, once in a while.
    async fn learn(&self, at: usize) {
        let Ok(upstream) = self.upstream(at) else { return };
        if upstream.may_learn(self.bridge.clock.now().monotonic)
            && let Err(refused) = self.listed(at, None).await
        {
            tracing::debug!(code = refused.code(), upstream = at, "the tools could not be listed");
        }
    }
}

/// `result.protocolVersion` of an answer to `initialize`.
fn agreed_version(line: &ServerMessage) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_slice(line.bytes()).ok()?;
    Some(answer.pointer("/result/protocolVersion")?.as_str()?.to_owned())
}
