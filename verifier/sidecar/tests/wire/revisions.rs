//! What one revision of MCP has and another has not.

use crate::stand::{Stand, Wish};

#[tokio::test]
async fn a_revision_that_the_tool_server_does_not_speak_is_answered_with_those_that_it_does() {
    let tool_server = Some("url = \"http://127.0.0.1:9/mcp\"\nrevisions = [\"2026-07-28\"]".to_owned());
    let stand = Stand::with(Wish { tool_server, ..Wish::default() }).await;
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let older = stand.post_with("MCP-Protocol-Version: 2025-11-25\r\n", ping).await;
    assert_eq!((older.status, older.reason().as_str()), (400, "version_unknown"), "{older:?}");
    let data = &older.json()["error"]["data"];
    assert_eq!(data["supported"].to_string(), r#"["2026-07-28"]"#);
    assert_eq!(data["requested"], "2025-11-25");
    let silent = stand.post_with("", ping).await;
    assert_eq!((silent.status, silent.reason().as_str()), (400, "header_missing"), "{silent:?}");
}
