//! `Mcp-Param-*`: headers that repeat arguments. They are compared with them, and go on only where they say the same.

use crate::stand::{AUDIENCE, Stand};

/// The tool server marks `cost` and nothing else.
const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object",
    "properties":{"cost":{"type":"integer","x-mcp-header":"Cost"},"text":{"type":"string"}}}}]}}"#;
const ARGUMENTS: &str = r#"{"cost":1,"text":"web"}"#;

/// What the tool server got, in lower case.
fn last_request(stand: &Stand) -> String {
    let received = stand.upstream.received();
    String::from_utf8(received.last().unwrap().clone()).unwrap().to_ascii_lowercase()
}

async fn listed() -> Stand {
    let stand = Stand::ready().await;
    stand.upstream.says("application/json", LISTED);
    assert_eq!(stand.post(&stand.issuer.mint().shows("tools/list", "")).await.status, 200);
    stand.upstream.says("application/json", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    stand
}

#[tokio::test]
async fn m1_a_header_that_disagrees_with_the_argument_that_it_is_marked_for_is_refused() {
    let stand = listed().await;
    for header in
        ["Mcp-Param-Cost: 2", "mcp-param-cost: x", "Mcp-Param-Cost: =?base64?Mg==?=", "Mcp-Param-Cost:"]
    {
        let call = stand.issuer.mint().call(AUDIENCE, ARGUMENTS);
        let answer = stand.post_with(&format!("{header}\r\n"), call.as_bytes()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "header_mismatch"), "{header}");
        assert_eq!(answer.json()["error"]["code"], -32020, "{header}");
    }
    let call = stand.issuer.mint().call(AUDIENCE, ARGUMENTS);
    let twice = stand.post_with("Mcp-Param-Cost: 1\r\nMcp-Param-Cost: 1\r\n", call.as_bytes()).await;
    assert_eq!((twice.status, twice.reason().as_str()), (400, "header_repeated"));
    assert_eq!(stand.upstream.received().len(), 1, "the list alone was asked for");
}

#[tokio::test]
async fn m2_headers_that_repeat_arguments_go_on_and_others_of_their_name_do_not() {
    let headers = "Mcp-Param-Cost: 1.0\r\nMcp-Param-Text: web\r\nMcp-Param-Other: nowhere\r\n";
    for stand in [listed().await, Stand::ready().await] {
        let call = stand.issuer.mint().call(AUDIENCE, ARGUMENTS);
        assert_eq!(stand.post_with(headers, call.as_bytes()).await.status, 200);
        let request = last_request(&stand);
        assert!(request.contains("mcp-param-cost: 1.0\r\n"), "{request}");
        assert!(request.contains("mcp-param-text: web\r\n"), "{request}");
        assert!(!request.contains("mcp-param-other"), "{request}");
    }
}
