//! `tools/list`: the credential is shown, without a proof, so that the sidecar lists what it covers; what the sidecar says of
//! each tool is remembered. With several servers or credentials their lists are put together.

use std::{borrow::Cow, collections::HashSet};

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    Relay,
    answer::ServerMessage,
    exchange::{Answer, Manner},
    hint::Tool,
    message::{Id, Members, Message},
    refused::Refused,
    refused::put,
    sign,
    wallet::Pocket,
};
use crate::limits::{MAX_ANSWER_BYTES, MAX_PAGES};

/// The revision in which the bridge asks where the client has not agreed on an older one.
const REVISION: &str = "2026-07-28";

/// Tools as they were listed, each as JSON with its name.
#[derive(Debug, Default)]
pub(super) struct Tools(Vec<(String, String)>);

#[derive(Deserialize)]
struct ListAnswer<'a> {
    #[serde(borrow)]
    result: ListResult<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListResult<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    next_cursor: Option<Cow<'a, str>>,
}

impl Relay {
    /// The answer to the client's `tools/list`.
    pub(super) async fn list(&self, id: &Id, message: &Message) -> Result<Answer, Refused> {
        let purses: usize = (0..self.bridge.upstreams.len()).map(|at| self.pockets(at).len().max(1)).sum();
        if purses > 1 {
            return self.list_all(id, message).await;
        }
        let shown = self.shown(0, self.pockets(0).first().copied()).await?;
        let answer = self.pass(0, id, message, &shown).await?;
        if let Answer::Line(line, _) = &answer {
            self.remember(0, line);
        }
        Ok(answer)
    }

    fn pockets(&self, at: usize) -> Vec<&Pocket> {
        let upstream = self.bridge.upstreams.get(at);
        upstream.into_iter().flat_map(|upstream| self.bridge.wallet.bound_to(&upstream.config.url)).collect()
    }

    async fn shown(&self, at: usize, pocket: Option<&Pocket>) -> Result<Members, Refused> {
        let Some(pocket) = pocket else { return Ok(Members::default()) };
        let credential = pocket.current(self.bridge.clock.now()).await;
        let credential = credential.map_err(|fault| Refused::here(fault.code(), fault.to_string()))?;
        self.upstream(at)?.check_bound(&credential)?;
        sign::shown(&credential)
    }

    /// Notes what a page says, and returns its tools and where the next one begins.
    fn remember(&self, at: usize, page: &ServerMessage) -> Option<(Tools, Option<String>)> {
        let ListAnswer { result } = serde_json::from_slice(page.bytes()).ok()?;
        let read = |tool: &&RawValue| Some((Tool::read(tool.get())?, tool.get().to_owned()));
        let (read, texts): (Vec<Tool>, Vec<String>) = result.tools.iter().filter_map(read).unzip();
        let tools = read.iter().map(|tool| tool.name.clone()).zip(texts).collect();
        self.upstream(at).ok()?.learn(read);
        Some((Tools(tools), result.next_cursor.map(Cow::into_owned)))
    }

    /// All lists together, each server's and credential's, page by page. A name that is listed twice is the first server's.
    async fn list_all(&self, id: &Id, message: &Message) -> Result<Answer, Refused> {
        let (mut tools, mut fault, mut any) = (Tools::default(), None, false);
        for at in 0..self.bridge.upstreams.len() {
            match self.listed(at, message.version()).await {
                Ok(found) => {
                    any = true;
                    tools.0.extend(found.0);
                }
                Err(refused) => {
                    tracing::warn!(
                        code = refused.code(),
                        upstream = at,
                        "a server's tools could not be listed"
                    );
                    fault.get_or_insert(refused);
                }
            }
        }
        match fault {
            Some(refused) if !any => Err(refused),
            _ => tools.answer(id, message.version().is_some()),
        }
    }

    /// The tools that one server lists to any of the credentials that are bound to it.
    pub(super) async fn listed(&self, at: usize, version: Option<&str>) -> Result<Tools, Refused> {
        let pockets = self.pockets(at);
        let (mut tools, mut fault, mut any) = (Tools::default(), None, false);
        let shown: Vec<Option<&Pocket>> =
            if pockets.is_empty() { vec![None] } else { pockets.into_iter().map(Some).collect() };
        for pocket in shown {
            match self.pages(at, pocket, version).await {
                Ok(found) => {
                    any = true;
                    tools.0.extend(found.0);
                }
                Err(refused) => {
                    fault.get_or_insert(refused);
                }
            }
        }
        match fault {
            Some(refused) if !any => Err(refused),
            _ => Ok(tools),
        }
    }

    async fn pages(
        &self,
        at: usize,
        pocket: Option<&Pocket>,
        version: Option<&str>,
    ) -> Result<Tools, Refused> {
        let shown = self.shown(at, pocket).await?;
        let (mut tools, mut cursor, mut bytes) = (Tools::default(), None, 0_usize);
        for page in 0..MAX_PAGES {
            let (id, message) = self.own_request(at, page, cursor.as_deref(), version)?;
            let line = match self.pass(at, &id, &message, &shown).await? {
                Answer::Line(line, _) => line,
                Answer::Refused(refused) => return Err(refused),
            };
            bytes = bytes.saturating_add(line.bytes().len());
            let (found, next) =
                self.remember(at, &line).ok_or_else(|| no_list("what it answered is none"))?;
            tools.0.extend(found.0);
            match next {
                None => return Ok(tools),
                Some(_) if bytes > MAX_ANSWER_BYTES => break,
                Some(next) => cursor = Some(next),
            }
        }
        Err(no_list("it has no end"))
    }

    /// A `tools/list` of the bridge's own.
    fn own_request(
        &self,
        at: usize,
        page: usize,
        cursor: Option<&str>,
        version: Option<&str>,
    ) -> Result<(Id, Message), Refused> {
        let stateless = version.is_some() || self.session.agreed(at).version.is_none();
        let mut params = json!({});
        if let Some(cursor) = cursor {
            put(&mut params, "cursor", cursor);
        }
        if stateless {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": version.unwrap_or(REVISION),
                "io.modelcontextprotocol/clientInfo": {"name": "pact-holder", "version": env!("CARGO_PKG_VERSION")},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            put(&mut params, "_meta", meta);
        }
        let id = json!(format!("pact-holder-{page}"));
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params});
        let broken = || no_list("it could not be asked for");
        let message = Message::parse(request.to_string().into_bytes()).map_err(|_| broken())?;
        Ok((Id::from_text(&id.to_string()).ok_or_else(broken)?, message))
    }
}

impl Tools {
    fn answer(self, id: &Id, stateless: bool) -> Result<Answer, Refused> {
        let mut seen = HashSet::new();
        let distinct = self.0.iter().filter(|(name, _)| seen.insert(name.as_str()));
        let tools = distinct.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(",");
        let more =
            if stateless { r#","resultType":"complete","ttlMs":0,"cacheScope":"private""# } else { "" };
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]{more}}}}}"#);
        ServerMessage::parse(line.into_bytes())
            .map(|line| Answer::Line(line, Manner::PLAIN))
            .map_err(|_| no_list("it cannot be put together"))
    }
}

fn no_list(why: &str) -> Refused {
    Refused::here("answer_not_mcp", format!("the server's list of tools: {why}"))
}
