//! Asks a tool server what tools it has, in either revision of MCP, within bounds.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::{BodyExt, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use pact_mandate::{Json, json::Number};
use serde_json::{Value, json};

use super::{ListFault, SeenTool, SuggestError};
use crate::{
    answer::AnswerBroken,
    config::HttpUrl,
    header::{MCP_METHOD, MCP_VERSION},
    limits::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, MAX_SUGGESTED_PAGES, MAX_SUGGESTED_TOOLS},
    mcp::RpcId,
    tools_list::collect,
    upstream::tls,
};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Every tool of the server.
pub(super) async fn tools(url: &HttpUrl) -> Result<Vec<SeenTool>, SuggestError> {
    let connection = Connection::to(url)?;
    let modern = match connection.pages(&Manner::modern()).await {
        Ok(tools) => return Ok(tools),
        Err(fault) => fault,
    };
    let legacy = match connection.handshake().await {
        Ok(manner) => connection.pages(&manner).await,
        Err(fault) => Err(fault),
    };
    legacy.map_err(|legacy| SuggestError::NoList { modern, legacy })
}

/// How questions are asked in one revision.
struct Manner {
    headers: HeaderMap,
    /// What stands in `_meta` of each question.
    meta: Option<Value>,
}

struct Connection {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    url: HttpUrl,
}

/// An answer, its message apart.
struct Answered {
    message: Json,
    headers: HeaderMap,
}

impl Manner {
    fn modern() -> Manner {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": client_info(),
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Manner {
            headers: [(MCP_VERSION, HeaderValue::from_static(MODERN))].into_iter().collect(),
            meta: Some(meta),
        }
    }
}

impl Connection {
    fn to(url: &HttpUrl) -> Result<Connection, SuggestError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls()?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Ok(Connection { client: Client::builder(TokioExecutor::new()).build(connector), url: url.clone() })
    }

    /// The whole list, page by page.
    async fn pages(&self, manner: &Manner) -> Result<Vec<SeenTool>, ListFault> {
        let mut tools = Vec::new();
        let mut names = BTreeSet::new();
        let mut cursor: Option<String> = None;
        for page in 1..=MAX_SUGGESTED_PAGES {
            let params = cursor.take().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let answered = self.ask(page, "tools/list", params, manner).await?;
            let result = result_of(&answered.message)?;
            let Some(Json::Array(listed)) = result.get("tools") else {
                return Err(ListFault::Error("of a result without tools".to_owned()));
            };
            let new = listed.iter().filter_map(SeenTool::of).filter(|tool| names.insert(tool.name.clone()));
            tools.extend(new);
            if tools.len() > MAX_SUGGESTED_TOOLS {
                break;
            }
            match result.get("nextCursor").and_then(Json::as_str) {
                None => return Ok(tools),
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        Err(ListFault::Endless)
    }

    /// Begins a session of the older revision.
    async fn handshake(&self) -> Result<Manner, ListFault> {
        let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client_info() });
        let bare = Manner { headers: HeaderMap::new(), meta: None };
        let answered = self.ask(0, "initialize", params, &bare).await?;
        let agreed = result_of(&answered.message)?.get("protocolVersion").and_then(Json::as_str);
        let mut headers = HeaderMap::new();
        let agreed = agreed.and_then(|version| HeaderValue::from_str(version).ok());
        headers.extend(agreed.map(|version| (MCP_VERSION, version)));
        headers.extend(answered.headers.get(&SESSION).map(|id| (SESSION, id.clone())));
        let manner = Manner { headers, meta: None };
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send("notifications/initialized", &notice, &manner).await?;
        Ok(manner)
    }

    async fn ask(
        &self,
        id: u64,
        method: &'static str,
        mut params: Value,
        manner: &Manner,
    ) -> Result<Answered, ListFault> {
        if let (Some(meta), Some(params)) = (&manner.meta, params.as_object_mut()) {
            params.insert("_meta".to_owned(), meta.clone());
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let id = RpcId::Number(Number::from_u64(id));
        let answer = async {
            let response = self.send(method, &request, manner).await?;
            let (head, body) = response.into_parts();
            let mut body = body.map_err(|_| AnswerBroken::Upstream).boxed_unsync();
            let text = collect::answer(&head.headers, &mut body, Some(&id)).await;
            let text = text.map_err(|fault| {
                if head.status.is_success() {
                    ListFault::Unreadable(Box::new(fault))
                } else {
                    ListFault::Status(head.status.as_u16())
                }
            })?;
            let message = Json::parse(&text).map_err(|_| ListFault::Status(head.status.as_u16()))?;
            Ok(Answered { message, headers: head.headers })
        };
        within(ANSWER_TIMEOUT, answer).await
    }

    async fn send(
        &self,
        method: &'static str,
        message: &Value,
        manner: &Manner,
    ) -> Result<http::Response<hyper::body::Incoming>, ListFault> {
        let mut request = Request::new(Full::from(message.to_string()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.uri().clone();
        *request.headers_mut() = manner.headers.clone();
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(MCP_METHOD, HeaderValue::from_static(method));
        within(ANSWER_TIMEOUT, async {
            self.client.request(request).await.map_err(|_| ListFault::Unreachable)
        })
        .await
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, ListFault>>,
) -> Result<T, ListFault> {
    tokio::time::timeout(limit, work).await.unwrap_or(Err(ListFault::Silent))
}

fn result_of(message: &Json) -> Result<&Json, ListFault> {
    match (message.get("result"), message.get("error")) {
        (Some(result), None) => Ok(result),
        (_, Some(error)) => {
            let code = match error.get("code") {
                Some(Json::Number(code)) => code.text(),
                _ => "without a code",
            };
            Err(ListFault::Error(code.chars().take(20).collect()))
        }
        (None, None) => Err(ListFault::Error("of a message without a result".to_owned())),
    }
}

fn client_info() -> Value {
    json!({ "name": "pact-sidecar suggest", "version": env!("CARGO_PKG_VERSION") })
}
