//! The admin port, and stopping.

use std::{sync::atomic::Ordering, time::Duration};

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

/// RFC 9728: before any credential, under the names of this place alone.
#[tokio::test]
async fn who_has_no_credential_reads_how_to_present_one() {
    let stand = Stand::start().await;
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = get(stand.traffic, path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        let said = answer.json();
        assert_eq!(said["resource"], AUDIENCE);
        assert_eq!(said["dpop_bound_access_tokens_required"], true);
        assert_eq!(said["dpop_signing_alg_values_supported"][0], "EdDSA");
        assert_eq!(get(stand.admin, path).await.status, 404);
    }
    assert!(stand.upstream.received().is_empty());
}

/// DNS rebinding: a page's own name, made to point here, is not a name of this place.
#[tokio::test]
async fn attack_42_a_forged_host_is_misdirected_on_either_port() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let forged = |bytes: Vec<u8>, host: &str| {
        String::from_utf8(bytes)
            .unwrap()
            .replacen("Host: localhost", &format!("Host: {host}"), 1)
            .into_bytes()
    };
    for host in ["rebound.example", "127.0.0.1.nip.example", "tools.example.org.rebound.example", ""] {
        let answer = crate::client::raw(stand.traffic, &forged(post("", call.as_bytes()), host)).await;
        assert_eq!((answer.status, answer.reason().as_str()), (421, "host_not_allowed"), "{host}");
        let look = format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(crate::client::raw(stand.admin, look.as_bytes()).await.status, 421, "{host}");
    }
    for headers in ["X-Forwarded-Host: tools.example.org\r\n", "Forwarded: host=tools.example.org\r\n"] {
        let bytes = forged(post(headers, call.as_bytes()), "rebound.example");
        assert_eq!(crate::client::raw(stand.traffic, &bytes).await.status, 421, "{headers}");
    }
    assert!(stand.upstream.received().is_empty());
    let own = forged(post("", call.as_bytes()), "tools.example.org");
    assert_eq!(crate::client::raw(stand.traffic, &own).await.status, 200);
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

/// Whoever sends callers here must see it at `/readyz` before the listener closes.
#[tokio::test]
async fn s11_who_stops_is_not_ready_first_and_answers_on_for_a_while() {
    let mut stand = Stand::with(Wish { more: "[limits]\ndrain_delay = \"4s\"", ..Wish::default() }).await;
    stand.until_ready().await;
    stand.stop();
    let ready = stand.until_status(503).await.json();
    assert_eq!((&ready["draining"], &ready["ready"]), (&true.into(), &false.into()));
    assert!(ready["reasons"][0].as_str().unwrap().starts_with("draining"), "{ready}");
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    assert_eq!(stand.post(&call).await.status, 200);
    tokio::time::timeout(Duration::from_secs(30), &mut stand.ended).await.expect("it stops").unwrap();
    assert!(tokio::net::TcpStream::connect(stand.traffic).await.is_err());
}

/// What a watcher kept true is true no longer when it has died, so nothing is let through, be it ever so harmless.
#[tokio::test]
async fn a_watcher_that_dies_closes_the_door_and_readyz_names_it() {
    let stand = Stand::with(Wish { more: "[lists]\nevery = \"20s\"", ..Wish::default() }).await;
    stand.until_ready().await;
    stand.upstream.answers(Mode::Events);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut flowing = open(stand.traffic, &post("", ping.as_bytes())).await;
    flowing.until("{\"first\":1}").await;
    // Whoever asks for the time next panics. No request does: the open one rests on no credential.
    stand.panics.store(true, Ordering::SeqCst);
    while stand.panics.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let ready = stand.until_status(503).await.json();
    assert_eq!(ready["died"].as_array().unwrap().len(), 1, "{ready}");
    assert_eq!(get(stand.admin, "/livez").await.status, 503, "who asks there restarts");
    let name = ready["died"][0].as_str().unwrap().to_owned();
    assert!(ready["reasons"][0].as_str().unwrap().contains(&name), "{ready}");
    let received = stand.upstream.received().len();
    for body in [stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#), ping.into()] {
        let answer = stand.post(&body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (503, "component_died"));
        assert!(!answer.body.contains(&name), "callers are not told which");
    }
    let ended = String::from_utf8(flowing.rest().await).unwrap();
    assert!(ended.contains("\"reason\":\"component_died\""), "{ended}");
    assert_eq!(stand.upstream.received().len(), received);
    assert!(get(stand.admin, "/metrics").await.body.contains("pact_sidecar_components_died 1"));
}
