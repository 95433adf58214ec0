//! What is allowed goes through as it was judged; what is not, does not.

use crate::{
    client::{self, post},
    issuer::without_trust,
    stand::{AUDIENCE, Stand, Wish},
    upstream::{Mode, RESULT},
};

#[tokio::test]
async fn m2_an_allowed_call_reaches_the_tool_server_byte_for_byte_without_credential_and_proof() {
    let stand = Stand::ready().await;
    let arguments = r#"{ "cost":1.50, "text":"a\u00e9\/b" }"#;
    let call = stand.issuer.mint().call(AUDIENCE, arguments);
    let headers = "Mcp-Method: tools/call\r\nMcp-Name: echo\r\nX-Forwarded-For: 1.2.3.4\r\nCookie: c=d\r\nmcp_name: rm\r\n";
    let answer = stand.post_with(headers, call.as_bytes()).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, RESULT));
    assert_eq!(answer.header("set-cookie"), None);
    assert_eq!(answer.header("pact-refusal"), None, "nobody but the sidecar says that it refuses");
    assert_eq!(answer.header("server"), None);
    assert_eq!(stand.upstream.only_body(), without_trust(arguments));
    let request = String::from_utf8(stand.upstream.received()[0].clone()).unwrap().to_ascii_lowercase();
    assert!(request.starts_with("post /tool http/1.1\r\n"), "{request}");
    assert!(request.contains("mcp-name: echo\r\n") && request.contains("content-type: application/json\r\n"));
    for never in ["x-forwarded-for", "cookie", "mcp_name", "authorization", "dpop", "tenuo", "pact/"] {
        assert!(!request.contains(never), "{never} in {request}");
    }
}

#[tokio::test]
async fn p6_a_proof_counts_once() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    assert_eq!(stand.post(&call).await.status, 200);
    let again = stand.post(&call).await;
    assert_eq!((again.status, again.reason().as_str()), (401, "replayed"));
    assert_eq!(stand.upstream.received().len(), 1);
}

#[tokio::test]
async fn what_the_credential_or_the_policy_does_not_allow_never_reaches_the_tool_server() {
    let stand = Stand::ready().await;
    let credential = stand.issuer.mint();
    let tampered = {
        let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
        call.replace("\"cost\":1}", "\"cost\":2}")
    };
    for (call, status) in [
        (credential.call(AUDIENCE, r#"{"cost":6}"#), 403),
        (credential.call(AUDIENCE, r#"{"cost":1,"other":1}"#), 403),
        (credential.call(AUDIENCE, r#"{"cost":1}"#).replace("\"name\":\"echo\"", "\"name\":\"Echo\""), 403),
        (credential.call("https://other.example.org/mcp", r#"{"cost":1}"#), 401),
        (credential.call_by([9; 32], AUDIENCE, r#"{"cost":1}"#), 401),
        (tampered, 401),
        (credential.call(AUDIENCE, r#"{"cost":1}"#).replace("\"tenuo\"", "\"other\""), 400),
        (without_trust(r#"{"cost":1}"#), 401),
    ] {
        let answer = stand.post(&call).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], status, "{answer:?}");
        assert!(!answer.body.contains(&credential.warrant[..40]), "{answer:?}");
        answer.reason();
    }
    assert_eq!(stand.upstream.received(), Vec::<Vec<u8>>::new());
    let missing = stand.post(&without_trust(r#"{"cost":1}"#)).await;
    assert_eq!(missing.reason(), "credential_missing");
    assert_eq!(
        missing.header("www-authenticate"),
        Some(
            "DPoP algs=\"EdDSA\", resource_metadata=\"https://tools.example.org/.well-known/oauth-protected-resource/mcp\""
        )
    );
}

#[tokio::test]
async fn c1_two_credentials_are_one_too_many() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let answer = stand.post_with("Authorization: DPoP AAAA\r\n", call.as_bytes()).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "credential_second"));
    let answer =
        stand.post_with("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", call.as_bytes()).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "header_repeated"));
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn open_methods_pass_without_a_credential_and_never_with_one() {
    let stand = Stand::start().await;
    let ping =
        r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":{"pact/credential":"secret"}}}"#;
    let answer = stand.post_with("Authorization: Bearer secret\r\n", ping.as_bytes()).await;
    assert_eq!(answer.status, 200);
    let body = stand.upstream.only_body();
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":{}}}"#);
    assert!(!String::from_utf8_lossy(&stand.upstream.received()[0]).contains("secret"));
}

#[tokio::test]
async fn a_caller_who_does_not_say_what_it_accepts_takes_either_kind_of_answer() {
    let stand = Stand::start().await;
    let ping = post("", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let ping =
        String::from_utf8(ping).unwrap().replace("Accept: application/json, text/event-stream\r\n", "");
    assert_eq!(client::raw(stand.traffic, ping.as_bytes()).await.status, 200);
    let request = String::from_utf8(stand.upstream.received()[0].clone()).unwrap().to_ascii_lowercase();
    assert!(request.contains("accept: application/json, text/event-stream\r\n"), "{request}");
}

#[tokio::test]
async fn what_the_tool_server_does_wrong_has_a_code_of_its_own() {
    let stand = Stand::with(Wish { more: "", ..Wish::default() }).await;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    for (mode, code) in [
        (Mode::Redirect, "upstream_redirected"),
        (Mode::Encoded, "upstream_encoded"),
        (Mode::Close, "upstream_unreachable"),
    ] {
        stand.upstream.answers(mode);
        let answer = stand.post(ping).await;
        assert_eq!((answer.status, answer.reason().as_str()), (502, code));
        assert_eq!(answer.json()["id"], 7);
    }
}

/// Some clients look for the name of a type anywhere in the header, and some at the last of two headers.
#[tokio::test]
async fn attack_64_an_answer_of_a_type_that_nobody_inspects_is_none() {
    let stand = Stand::start().await;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let result = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    stand.upstream.says("application/json", result);
    assert_eq!(stand.post(ping).await.status, 200);
    for content_type in [
        "application/json-seq",
        "x/application/json",
        "text/html",
        "text/plain\r\nContent-Type: application/json",
        "application/json\r\nContent-Type: text/event-stream",
    ] {
        stand.upstream.says(content_type, result);
        let answer = stand.post(ping).await;
        assert_eq!((answer.status, answer.reason().as_str()), (502, "upstream_malformed"), "{content_type}");
    }
}

#[tokio::test]
async fn a_tool_server_that_is_down_is_a_502_and_shows_in_readyz() {
    let stand = Stand::ready().await;
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let text = std::fs::read_to_string(stand.folder.path().join("policy.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), text).unwrap();
    let config = format!(
        "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\naudience = \"{AUDIENCE}\"\npolicy = \"policy.toml\"\n\
         state_dir = \"state\"\n[upstream]\nurl = \"http://{nobody}/\"\n[[issuers]]\nid = \"acme\"\nroots = [\"{}\"]\n\
         list_keys = [\"{}\"]\nlists_url = \"{}\"\n[issuers.speaks]\nformats = [\"tenuo\"]\nactions = [\"*\"]\nprojects = [\"*\"]\n",
        stand.issuer.root_key(),
        stand.issuer.list_key(),
        stand.issuer.url("pact-revocations/pact"),
    );
    let config = pact_sidecar::Config::from_toml(&config, folder.path()).unwrap();
    let sidecar = pact_sidecar::Sidecar::bind(config).await.unwrap();
    let (traffic, admin) = (sidecar.traffic_address().unwrap(), sidecar.admin_address().unwrap());
    tokio::spawn(sidecar.serve(std::future::pending()));
    let answer = client::raw(traffic, &post("", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (502, "upstream_unreachable"));
    let ready = client::get(admin, "/readyz").await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["upstream"]["ok"], false);
}
