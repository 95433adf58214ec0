//! A changed configuration, taken into force whole or not at all.

use std::{path::PathBuf, time::Duration};

use serde_json::Value;

use crate::{
    client::{get, open, post},
    stand::{AUDIENCE, Stand, Wish},
    upstream::Mode,
};

fn file(stand: &Stand, name: &str) -> PathBuf {
    stand.folder.path().join(name)
}

/// Changes a file as editors do.
fn change(stand: &Stand, name: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(file(stand, name)).unwrap();
    assert!(text.contains(from), "{from}");
    std::fs::write(file(stand, name), text.replace(from, to)).unwrap();
}

async fn configuration(stand: &Stand) -> Value {
    get(stand.admin, "/readyz").await.json()["configuration"].clone()
}

async fn until(stand: &Stand, wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..200 {
        let now = configuration(stand).await;
        if wanted(&now) {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("never: {}", configuration(stand).await);
}

async fn call(stand: &Stand) -> (u16, String) {
    let answer = stand.post(&stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#)).await;
    (answer.status, if answer.status == 200 { String::new() } else { answer.reason() })
}

#[tokio::test]
async fn r9_a_changed_policy_counts_for_calls_and_for_open_answers() {
    let stand = Stand::ready().await;
    assert_eq!(configuration(&stand).await["version"], 1);
    stand.upstream.answers(Mode::Events);
    let first = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let mut flowing = open(stand.traffic, &post("", first.as_bytes())).await;
    flowing.until("{\"first\":1}\n\n").await;
    change(&stand, "policy.toml", "tools.echo", "tools.other");
    let now = until(&stand, |now| now["version"] == 2).await;
    assert_eq!(now["ok"], true);
    assert_eq!(call(&stand).await, (403, "tool_not_mapped".to_owned()));
    let ended = String::from_utf8(flowing.rest().await).unwrap();
    assert!(ended.contains("\"code\":403"), "{ended}");
    let metrics = get(stand.admin, "/metrics").await.body;
    for line in ["pact_sidecar_reloads_total{outcome=\"in_force\"} 1", "pact_sidecar_configuration_version 2"]
    {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
}

/// A file that does not do changes nothing, and is reported once.
#[tokio::test]
async fn attack_65_a_broken_file_leaves_the_old_rules_in_force_and_readyz_says_why() {
    let stand = Stand::ready().await;
    for (at, (name, from, to)) in [
        ("policy.toml", "unjudged", "unjugded"),
        ("sidecar.toml", "lists_url", "lists_ur"),
        ("sidecar.toml", "[issuers.speaks]", "[issuers.speaks]\nformats = []"),
        ("sidecar.toml", "[issuers.speaks]", "[issuers.spe"),
    ]
    .into_iter()
    .enumerate()
    {
        let version = configuration(&stand).await["version"].clone();
        let before = std::fs::read_to_string(file(&stand, name)).unwrap();
        change(&stand, name, from, to);
        let now = until(&stand, |now| now["ok"] == false).await;
        assert_eq!(now["version"], version, "{now}");
        assert_eq!(call(&stand).await.0, 200, "{to}");
        // Nothing more is reported of the same files, however often they are looked at.
        tokio::time::sleep(Duration::from_millis(2500)).await;
        let metrics = get(stand.admin, "/metrics").await.body;
        let refused = format!("pact_sidecar_reloads_total{{outcome=\"refused\"}} {}", at + 1);
        assert!(metrics.contains(&refused), "{refused} in\n{metrics}");
        std::fs::write(file(&stand, name), before).unwrap();
        until(&stand, |now| now["ok"] == true).await;
    }
}

/// One atomic change: what could be taken over waits for what cannot.
#[tokio::test]
async fn what_takes_a_restart_is_named_and_nothing_else_of_the_change_counts() {
    let stand = Stand::ready().await;
    change(&stand, "sidecar.toml", "/tool\"", "/other\"");
    change(&stand, "policy.toml", "tools.echo", "tools.other");
    let now = until(&stand, |now| now["ok"] == false).await;
    assert!(now["reason"].as_str().unwrap().contains("`upstream`"), "{now}");
    assert_eq!(call(&stand).await.0, 200);
}

/// K4, R5: what is held of an issuer stays, so that a reload refuses nobody whom the new configuration takes.
#[tokio::test]
async fn a_reload_keeps_published_keys_and_lists_of_issuers_that_stay() {
    let stand = Stand::with(Wish { pinned: false, list_key_pinned: false, ..Wish::default() }).await;
    stand.until_ready().await;
    stand.issuer.go_down();
    change(&stand, "policy.toml", "\"text\"", "\"text\", \"more\"");
    until(&stand, |now| now["version"] == 2).await;
    assert_eq!(call(&stand).await.0, 200);
}

/// K2: an issuer that is configured no more grants nothing.
#[tokio::test]
async fn k2_an_issuer_that_is_taken_out_counts_no_more_and_one_that_comes_back_is_fetched_anew() {
    let stand = Stand::ready().await;
    change(&stand, "sidecar.toml", "id = \"acme\"", "id = \"other\"");
    until(&stand, |now| now["version"] == 2).await;
    let (status, reason) = call(&stand).await;
    assert_eq!(
        (status, reason.as_str()),
        (503, "list_missing"),
        "the root is another issuer's now, which has no list"
    );
    change(&stand, "sidecar.toml", "id = \"other\"", "id = \"acme\"");
    until(&stand, |now| now["version"] == 3).await;
    stand.until_ready().await;
    assert_eq!(call(&stand).await.0, 200);
}

/// What was changed while the sidecar started is noticed as well.
#[tokio::test]
async fn k2_a_file_that_changes_between_its_reading_and_the_start_is_noticed() {
    let mut stand = Stand::ready().await;
    stand.stop();
    (&mut stand.ended).await.unwrap();
    let config = pact_sidecar::Config::read(&file(&stand, "sidecar.toml")).unwrap();
    change(&stand, "sidecar.toml", "id = \"acme\"", "id = \"other\"");
    let sidecar = pact_sidecar::Sidecar::bind(config).await.unwrap();
    stand.admin = sidecar.admin_address().unwrap();
    tokio::spawn(sidecar.serve(std::future::pending()));
    until(&stand, |now| now["version"] == 2).await;
    assert!(get(stand.admin, "/readyz").await.json()["issuers"]["other"].is_object());
}
