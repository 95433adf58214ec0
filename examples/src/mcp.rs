//! The smallest MCP client: one JSON-RPC request over HTTP, and its answer (MCP 2026-07-28, which has no sessions).

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};

/// The MCP revision that is spoken.
pub const REVISION: &str = "2026-07-28";

/// Bytes of an answer that are read; the shop's are a few hundred.
const MOST_BYTES: usize = 1024 * 1024;

/// Sends requests.
#[derive(Clone, Debug)]
pub struct McpClient {
    http: Client<HttpConnector, Full<Bytes>>,
}

/// One `tools/call` as it will be sent, credential and proof included.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool's own name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Members of `_meta`, such as a credential and its proof.
    pub meta: serde_json::Map<String, Value>,
    /// Headers, such as `Authorization` and `DPoP`.
    pub headers: Vec<(String, String)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body, when it was JSON; else `null`.
    pub body: Value,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// A name, value or URL that HTTP does not allow.
    #[error("the request cannot be built: {0}")]
    Request(#[from] http::Error),
    /// A URL that is none.
    #[error("not a URL: {0}")]
    Url(#[from] http::uri::InvalidUri),
    /// No connection, or it broke.
    #[error("no answer: {0}")]
    Send(#[from] hyper_util::client::legacy::Error),
    /// Not there.
    #[error("the answer was {0}")]
    Status(StatusCode),
    /// The answer broke off or is too long.
    #[error("the answer could not be read: {0}")]
    Body(Box<dyn std::error::Error + Send + Sync>),
}

impl McpClient {
    /// A client over plain HTTP.
    pub fn new() -> McpClient {
        McpClient { http: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// Calls a tool at the URL.
    pub async fn call(&self, url: &str, call: &ToolCall) -> Result<Answer, McpError> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(url.parse::<Uri>()?)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("MCP-Protocol-Version", REVISION)
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", &call.tool);
        for (name, value) in &call.headers {
            let name = HeaderName::try_from(name.as_str()).map_err(http::Error::from)?;
            request = request.header(name, HeaderValue::try_from(value.as_str()).map_err(http::Error::from)?);
        }
        self.send(request.body(Full::from(call.body().to_string()))?).await
    }

    /// Reads a page, such as `/readyz`.
    pub async fn get(&self, url: &str) -> Result<Answer, McpError> {
        self.send(Request::get(url.parse::<Uri>()?).body(Full::default())?).await
    }

    /// Reads a document as it is; anything but success is an error.
    pub async fn fetch(&self, url: &str) -> Result<Bytes, McpError> {
        match self.exchange(Request::get(url.parse::<Uri>()?).body(Full::default())?).await? {
            (status, body) if status.is_success() => Ok(body),
            (status, _) => Err(McpError::Status(status)),
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, McpError> {
        let (status, body) = self.exchange(request).await?;
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), McpError> {
        let answer = self.http.request(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await.map_err(McpError::Body)?;
        Ok((status, body.to_bytes()))
    }
}

impl Default for McpClient {
    fn default() -> McpClient {
        McpClient::new()
    }
}

impl ToolCall {
    /// A call with nothing but its arguments.
    pub fn new(tool: &str, arguments: Value) -> ToolCall {
        ToolCall { tool: tool.to_owned(), arguments, meta: serde_json::Map::new(), headers: Vec::new() }
    }

    /// `params` as they are sent.
    pub fn params(&self) -> Value {
        let mut meta = self.meta.clone();
        meta.insert("io.modelcontextprotocol/protocolVersion".into(), REVISION.into());
        meta.insert(
            "io.modelcontextprotocol/clientInfo".into(),
            json!({"name": "quickstart", "version": "1"}),
        );
        meta.insert("io.modelcontextprotocol/clientCapabilities".into(), json!({}));
        json!({"name": self.tool, "arguments": self.arguments, "_meta": meta})
    }

    /// The whole JSON-RPC request.
    pub fn body(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": self.params()})
    }
}

impl Answer {
    /// The text that the tool gave.
    pub fn text(&self) -> Option<&str> {
        self.body.pointer("/result/content/0/text")?.as_str()
    }

    /// The code of a refusal.
    pub fn reason(&self) -> Option<&str> {
        self.body.pointer("/error/data/reason")?.as_str()
    }

    /// What the other side says about it.
    pub fn message(&self) -> Option<&str> {
        self.body.pointer("/error/message")?.as_str()
    }
}
