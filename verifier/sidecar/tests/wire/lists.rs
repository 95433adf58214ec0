//! No fresh list, no call (protocol R4, R5, R9).

use crate::{
    client,
    issuer::key_set,
    stand::{AUDIENCE, Stand, Wish},
};

#[tokio::test]
async fn r5_without_a_list_every_call_is_refused_from_the_first_second() {
    let stand = Stand::with(Wish { list: "nothing-here", ..Wish::default() }).await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let answer = stand.post(&call).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "list_missing"));
    assert_eq!(answer.header("retry-after"), Some("10"));
    assert!(stand.upstream.received().is_empty());
    let ready = client::get(stand.admin, "/readyz").await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["ready"], false);
    assert_eq!(ready.json()["issuers"]["acme"]["list"]["formats"]["tenuo"]["code"], "list_missing");
    assert_eq!(client::get(stand.admin, "/livez").await.status, 200);
}

#[tokio::test]
async fn r5_a_list_that_goes_stale_closes_the_door_and_readyz_says_why() {
    let stand = Stand::start().await;
    stand.issuer.publish(&[], 4);
    stand.until_ready().await;
    let credential = stand.issuer.mint();
    stand.issuer.go_down();
    let ready = stand.until_status(503).await;
    let code =
        ready.json()["issuers"]["acme"]["list"]["formats"]["tenuo"]["code"].as_str().unwrap().to_owned();
    assert!(matches!(code.as_str(), "list_overdue" | "list_stale"), "{code}");
    assert!(!ready.json()["reasons"].as_array().unwrap().is_empty());
    let answer = stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
    assert_eq!((answer.status, answer.reason()), (503, code));
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn r3_a_revoked_credential_is_refused_within_seconds() {
    let stand = Stand::ready().await;
    let credential = stand.issuer.mint();
    assert_eq!(stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await.status, 200);
    stand.issuer.publish(&[credential.entry()], 60);
    for _ in 0..200 {
        let answer = stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
        if answer.status != 200 {
            assert_eq!((answer.status, answer.reason().as_str()), (401, "revoked"));
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("never refused");
}

#[tokio::test]
async fn k4_roots_may_be_published_and_k3_a_set_with_a_key_of_another_role_does_not_count() {
    let stand = Stand::with(Wish {
        pinned: false,
        more: "[keys]\ncooldown = \"200ms\"\nsoft = \"300ms\"\nhard = \"3s\"",
        ..Wish::default()
    })
    .await;
    stand.until_ready().await;
    let credential = stand.issuer.mint();
    assert_eq!(stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await.status, 200);
    // The list key, published as a root.
    stand.issuer.publish_keys(key_set([2; 32]));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let ready = client::get(stand.admin, "/readyz").await;
    assert_eq!(ready.status, 200, "{ready:?}");
    assert!(ready.json()["issuers"]["acme"]["roots"]["fault"].as_str().unwrap().contains("another role"));
    // Past the hard stop nothing is left.
    let ready = stand.until_status(503).await;
    assert_eq!(ready.json()["issuers"]["acme"]["roots"]["count"], 0);
    let answer = stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "keys_missing"), "not the caller's fault");
    assert!(answer.header("retry-after").is_some() && answer.header("www-authenticate").is_none());
    // A key that comes back counts again.
    stand.issuer.publish_keys(key_set([1; 32]));
    stand.until_ready().await;
}

#[tokio::test]
async fn k1_list_keys_may_be_published_and_one_that_is_gone_takes_its_list_with_it() {
    let bounds = "[keys]\ncooldown = \"200ms\"\nsoft = \"300ms\"\nhard = \"1h\"\n[lists]\nevery = \"500ms\"";
    let stand = Stand::with(Wish { list_key_pinned: false, more: bounds, ..Wish::default() }).await;
    stand.until_ready().await;
    let credential = stand.issuer.mint();
    assert_eq!(stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await.status, 200);
    stand.issuer.publish_list_keys(key_set([8; 32]));
    stand.until_status(503).await;
    let answer = stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (503, "list_missing"));
}

#[tokio::test]
async fn r7_the_floor_survives_a_restart_and_a_damaged_one_keeps_the_door_shut() {
    let mut stand = Stand::ready().await;
    stand.stop();
    (&mut stand.ended).await.unwrap();
    let folder = stand.folder.path().join("state/lists");
    let floors: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let floors: Vec<_> =
        floors.into_iter().filter(|path| path.extension().is_some_and(|it| it == "floor")).collect();
    assert_eq!(floors.len(), 1);
    std::fs::write(&floors[0], "{}").unwrap();
    stand.restart().await;
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    let ready = client::get(stand.admin, "/readyz").await;
    assert_eq!(ready.status, 503);
    assert!(
        ready.json()["issuers"]["acme"]["list"]["fault"].as_str().unwrap().contains("damaged"),
        "{ready:?}"
    );
}
