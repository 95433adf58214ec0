//! One sidecar: where it is, what is known of it, and how a message gets there.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use pact_mandate::Json;
use pact_verifier::repeated::{self, Marks};
use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode,
    header::{self, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};

use super::{
    clock::Offset,
    config::UpstreamConfig,
    credential::{Credential, Wanted},
    hint::Tool,
    message::Message,
    refused::Refused,
    session::{Agreed, SESSION},
};
use crate::{
    call::TOOLS_CALL,
    limits::{LEARN_COOLDOWN, MAX_TOOLS},
};

/// A sidecar.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) config: UpstreamConfig,
    client: Client,
    pub(crate) offset: Offset,
    known: Mutex<Known>,
}

/// What it has told so far.
#[derive(Debug, Default)]
struct Known {
    tools: HashMap<String, Tool>,
    learned_at: Option<pact_mandate::Monotonic>,
}

impl Upstream {
    /// Connects to nothing yet. The TLS provider must have been installed.
    pub(crate) fn new(config: UpstreamConfig) -> Result<Upstream, reqwest::Error> {
        let client = Client::builder()
            // A redirect would take a credential to where nobody bound it.
            .redirect(Policy::none())
            .no_proxy()
            .retry(reqwest::retry::never())
            .connect_timeout(config.connect_timeout)
            .user_agent(concat!("pact-holder/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Upstream { config, client, offset: Offset::default(), known: Mutex::default() })
    }

    /// Whether the credential may go there: the last look before it does.
    pub(crate) fn check_bound(&self, credential: &Credential) -> Result<(), Refused> {
        if credential.may_go_to(&self.config.url) {
            Ok(())
        } else {
            Err(Refused::here("not_bound", format!("that credential is not bound to {}", self.config.url)))
        }
    }

    /// Sends a message and waits for the head of the answer.
    pub(crate) async fn post(
        &self,
        message: &Message,
        body: String,
        agreed: &Agreed,
        most: Duration,
    ) -> Result<Response, Refused> {
        self.post_with(message, body, agreed, HeaderMap::new(), most).await
    }

    /// The same, with more headers.
    pub(crate) async fn post_with(
        &self,
        message: &Message,
        body: String,
        agreed: &Agreed,
        more: HeaderMap,
        most: Duration,
    ) -> Result<Response, Refused> {
        let mut heads = heads(message, agreed, &self.marks(message));
        heads.extend(more);
        self.act(Method::POST, heads, Some(body), most).await
    }

    /// Sends a request with these headers and waits for the head of the answer.
    pub(crate) async fn act(
        &self,
        method: Method,
        heads: HeaderMap,
        body: Option<String>,
        most: Duration,
    ) -> Result<Response, Refused> {
        let request = self.client.request(method, self.config.url.url().clone()).headers(heads);
        let request = match body {
            Some(body) => request.body(body),
            None => request,
        };
        self.send(request, most).await
    }

    async fn send(&self, request: RequestBuilder, most: Duration) -> Result<Response, Refused> {
        let response = match tokio::time::timeout(most, request.send()).await {
            Err(_) => {
                let message = format!("{} did not begin its answer within {most:?}", self.config.url);
                return Err(Refused::here("sidecar_too_slow", message));
            }
            Ok(Err(error)) if error.is_connect() => {
                let message = format!("{} cannot be reached", self.config.url);
                return Err(Refused::here("sidecar_unreachable", message));
            }
            Ok(Err(_)) => {
                let message = format!("the connection to {} broke before an answer came", self.config.url);
                return Err(Refused::here("answer_broken", message));
            }
            Ok(Ok(response)) => response,
        };
        if response.status().is_redirection() {
            let message =
                format!("{} wants the call to go elsewhere, which is not followed", self.config.url);
            return Err(Refused::here("redirected", message));
        }
        Ok(response)
    }

    /// Remembers tools that were listed.
    pub(crate) fn learn(&self, tools: impl IntoIterator<Item = Tool>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for tool in tools {
            if known.tools.len() < MAX_TOOLS || known.tools.contains_key(&tool.name) {
                known.tools.insert(tool.name.clone(), tool);
            }
        }
    }

    /// Whether a tool of that name was listed here.
    pub(crate) fn lists(&self, tool: &str) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).tools.contains_key(tool)
    }

    /// Which arguments of a call are repeated in headers. The older revisions know nothing of it.
    fn marks(&self, message: &Message) -> Marks {
        let is_modern_call = message.method() == Some(TOOLS_CALL) && message.version().is_some();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let tool = message.name().filter(|_| is_modern_call).and_then(|tool| known.tools.get(tool));
        tool.map(|tool| tool.marks.clone()).unwrap_or_default()
    }

    /// Whether it is time to look at the list because of a tool that is not known; says yes once in a while.
    pub(crate) fn may_learn(&self, now: pact_mandate::Monotonic) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let may = known.learned_at.is_none_or(|at| now.since(at) >= LEARN_COOLDOWN);
        if may {
            known.learned_at = Some(now);
        }
        may
    }

    /// What a call needs, where that is known: in the operator's words, else in the sidecar's.
    pub(crate) fn wanted(&self, tool: &str, arguments: &Json) -> Option<Wanted> {
        let hinted = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.tools.get(tool).and_then(|tool| tool.hint.as_ref()).map(|hint| hint.wanted(arguments))
        };
        match self.config.actions.get(tool) {
            Some(action) => {
                Some(Wanted { action: action.clone(), project: hinted.and_then(|wanted| wanted.project) })
            }
            None => hinted,
        }
    }
}

/// The headers that repeat the body, as the client itself wrote them where it speaks HTTP, else as MCP 2026-07-28 wants them;
/// and the session of the older revisions.
fn heads(message: &Message, agreed: &Agreed, marks: &Marks) -> HeaderMap {
    let mut heads = message.said().cloned().unwrap_or_else(|| own(message, agreed, marks));
    heads.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    heads.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if let Some(session) = agreed.session.clone().filter(|_| message.method() != Some("initialize")) {
        heads.insert(SESSION, session);
    }
    heads
}

fn own(message: &Message, agreed: &Agreed, marks: &Marks) -> HeaderMap {
    let mut heads = HeaderMap::new();
    let stated = message.version().and_then(|version| HeaderValue::from_str(version).ok());
    // `initialize` agrees on a version, so it names none beside its body.
    let agreed = agreed.version.clone().filter(|_| message.method() != Some("initialize"));
    if let Some(version) = stated.or(agreed) {
        heads.insert("mcp-protocol-version", version);
    }
    for (name, text) in [("mcp-method", message.method()), ("mcp-name", message.name())] {
        heads.extend(text.and_then(header_of).map(|value| (HeaderName::from_static(name), value)));
    }
    let none = Json::Object(Vec::new());
    for (name, value) in marks.headers(message.param("arguments").unwrap_or(&none)) {
        heads.extend(HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok()));
    }
    heads
}

fn header_of(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&repeated::wrap(text)).ok()
}

/// When a sidecar wants to be asked again (RFC 9110 10.2.3), in seconds.
pub(crate) fn retry_after(response: &Response) -> Option<u64> {
    let later = matches!(response.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    later.then_some(seconds)
}

/// The sidecar's clock, as its answer shows it.
pub(crate) fn date(response: &Response) -> Option<String> {
    Some(response.headers().get(header::DATE)?.to_str().ok()?.to_owned())
}
