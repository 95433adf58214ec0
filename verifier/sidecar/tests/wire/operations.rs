//! The admin port, and stopping.

use std::time::Duration;

use crate::{
    client::{get, open, post},
    stand::{AUDIENCE, Stand, Wish},
    upstream::Mode,
};

#[tokio::test]
async fn readyz_tells_each_component_and_metrics_have_closed_labels() {
    let stand = Stand::ready().await;
    let ready = get(stand.admin, "/readyz").await.json();
    assert_eq!(ready["ready"], true);
    assert_eq!(ready["issuers"]["acme"]["roots"]["count"], 1);
    assert_eq!(ready["issuers"]["acme"]["list"]["version"], "1");
    assert_eq!(ready["replay"]["scope"], "replica");
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1,"text":"very secret"}"#);
    assert_eq!(stand.post(&call).await.status, 200);
    stand.post(&call).await;
    stand.post("[]").await;
    let metrics = get(stand.admin, "/metrics").await.body;
    for line in [
        "pact_sidecar_ready 1",
        "pact_sidecar_list_fresh{issuer=\"acme\"} 1",
        "pact_sidecar_requests_total{outcome=\"permitted\"} 1",
        "pact_sidecar_requests_total{outcome=\"refused\"} 2",
        "pact_sidecar_refusals_total{code=\"replayed\",class=\"unauthenticated\"} 1",
        "pact_sidecar_refusals_total{code=\"batch\",class=\"malformed\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
    assert!(!metrics.contains("echo") && !metrics.contains("secret"), "{metrics}");
}

#[tokio::test]
async fn the_ports_do_not_answer_for_each_other() {
    let stand = Stand::start().await;
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(get(stand.traffic, path).await.status, 404, "{path}");
    }
    let answer =
        crate::client::raw(stand.admin, &post("", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await;
    assert_eq!(answer.status, 405);
    assert_eq!(get(stand.admin, "/mcp").await.status, 404);
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn more_requests_than_the_bound_are_told_so() {
    let stand = Stand::with(Wish { more: "[limits]\nrequests = 1", ..Wish::default() }).await;
    stand.upstream.answers(Mode::Silent);
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let _waiting = open(stand.traffic, &post("", ping)).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let answer = stand.post_with("", ping).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "overloaded"));
    assert_eq!(stand.upstream.received().len(), 1);
}

#[tokio::test]
async fn stopping_lets_open_answers_finish_within_the_drain() {
    let mut stand = Stand::with(Wish { more: "[limits]\ndrain = \"1s\"", ..Wish::default() }).await;
    stand.upstream.answers(Mode::Silent);
    let _waiting = open(stand.traffic, &post("", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    stand.stop();
    tokio::time::timeout(Duration::from_secs(5), &mut stand.ended)
        .await
        .expect("the drain is bounded")
        .unwrap();
    assert!(tokio::net::TcpStream::connect(stand.traffic).await.is_err());
}
