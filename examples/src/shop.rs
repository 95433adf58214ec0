//! A tool server that knows nothing of trust: two tools over MCP, written with rmcp.

use std::net::SocketAddr;

use axum::Router;
use rmcp::{
    handler::server::wrapper::Parameters,
    schemars, tool, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde::Deserialize;
use tokio::net::TcpListener;

/// The path under which the tools answer.
pub const PATH: &str = "/mcp";

/// The shop whose orders the tools look up and refund.
#[derive(Clone, Debug)]
pub struct Shop {
    currency: String,
}

/// What `look_up_order` takes.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub struct LookUp {
    /// The shop's project.
    project: String,
    /// The number of the order.
    order: u64,
}

/// What `refund_order` takes.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub struct Refund {
    /// The shop's project.
    project: String,
    /// The number of the order.
    order: u64,
    /// How much is paid back, in US dollars.
    amount_usd: f64,
    /// A note for the customer.
    note: Option<String>,
}

#[tool_router(server_handler)]
impl Shop {
    #[tool(description = "Says what an order is about")]
    fn look_up_order(&self, Parameters(LookUp { project, order }): Parameters<LookUp>) -> String {
        format!("order {order} of {project}: one teapot, 40 {}, delivered", self.currency)
    }

    #[tool(description = "Pays part of an order back")]
    fn refund_order(&self, Parameters(refund): Parameters<Refund>) -> String {
        let Refund { project, order, amount_usd, note } = refund;
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        format!("refunded {amount_usd} {} for order {order} of {project}{note}", self.currency)
    }
}

/// Serves the tools until the task is dropped.
pub async fn serve(listener: TcpListener) -> std::io::Result<()> {
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(
        || Ok(Shop { currency: "USD".to_owned() }),
        NeverSessionManager::default().into(),
        config,
    );
    axum::serve(listener, Router::new().nest_service(PATH, service)).await
}

/// Where the tools answer, as a URL.
pub fn url(address: SocketAddr) -> String {
    format!("http://{address}{PATH}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::{McpClient, ToolCall};

    #[tokio::test]
    async fn the_tools_answer_over_mcp() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = url(listener.local_addr().unwrap());
        let server = tokio::spawn(serve(listener));
        let refund =
            ToolCall::new("refund_order", json!({"project": "shop", "order": 1041, "amount_usd": 12.5}));
        let answer = McpClient::new().call(&url, &refund).await.unwrap();
        assert_eq!(answer.text(), Some("refunded 12.5 USD for order 1041 of shop"), "{answer:?}");
        server.abort();
    }
}
