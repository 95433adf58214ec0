//! A Biscuit of the issuer's, and calls with it: in headers, or in `_meta`.

use base64::{Engine, engine::general_purpose::URL_SAFE};
use biscuit_auth::{
    Biscuit, KeyPair, PrivateKey,
    builder::{Algorithm, BlockBuilder},
};
use pact_mandate::{Asked, Json, SecretKey, Signer};
use pact_verifier::{
    Audience,
    proof::{dpop, params_digest},
    trust::RootKey,
};

use crate::{
    issuer::{HOLDER, Issuer, now},
    stand::{AUDIENCE, Stand},
};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{},"arguments":{"cost":1}}}"#;

/// `task.read` in `web`, up to a cost of 5, for the holder.
fn mint(issuer: &Issuer) -> String {
    let root = SecretKey::from_seed(&issuer.root).unwrap();
    let pair = KeyPair::from(&PrivateKey::from_bytes(&issuer.root, Algorithm::Ed25519).unwrap());
    let id = RootKey::Ed25519 { id: root.key_id().clone(), key: *root.public_key() }.biscuit_id();
    let limits = format!(
        r#"check if tool("task.read"), project("web"); check if arg("cost_usd", $v), $v <= 5000000;
        check if time($t), $t <= {};"#,
        now().plus(3600).rfc3339()
    );
    let authority =
        format!(r#"mandate("11111111-1111-4111-8111-111111111111"); right("web", "task.read"); {limits}"#);
    let token = Biscuit::builder().root_key_id(id).code(authority).unwrap().build(&pair).unwrap();
    let holder = *SecretKey::from_seed(&HOLDER).unwrap().public_key();
    let last = format!(
        r#"holder("{holder}"); mandate("22222222-2222-4222-8222-222222222222"); {limits}
        reject if arg($k, $v), !{{"cost_usd"}}.contains($k);"#
    );
    let token = token.append(BlockBuilder::new().code(last).unwrap()).unwrap();
    URL_SAFE.encode(token.to_vec().unwrap())
}

fn proof(token: &str, jti: &str) -> String {
    let holder = SecretKey::from_seed(&HOLDER).unwrap();
    let params = Json::parse(br#"{"name":"echo"}"#).unwrap();
    let asked = Asked {
        tool: "echo".into(),
        arguments: Json::parse(br#"{"cost":1}"#).unwrap(),
        params: params_digest("tools/call", &params).unwrap(),
    };
    let audience: Audience = AUDIENCE.parse().unwrap();
    let draft = dpop::Draft {
        holder: holder.public_key(),
        token_text: token,
        asked: &asked,
        audience: &audience,
        jti,
        issued_at: now(),
    };
    let input = draft.signing_input().unwrap();
    dpop::assemble(&input, &holder.sign(input.as_bytes()).unwrap())
}

#[tokio::test]
async fn p4_a_biscuit_in_headers_is_judged_and_stays_here() {
    let stand = Stand::ready().await;
    let token = mint(&stand.issuer);
    let dpop = proof(&token, "one");
    let headers = format!("Authorization: DPoP {token}\r\nDPoP: {dpop}\r\n");
    let answer = stand.post_with(&headers, CALL.as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(stand.upstream.only_body(), CALL);
    let request = String::from_utf8(stand.upstream.received()[0].clone()).unwrap();
    assert!(!request.contains(&token[..40]) && !request.to_ascii_lowercase().contains("dpop"), "{request}");
    let again = stand.post_with(&headers, CALL.as_bytes()).await;
    assert_eq!((again.status, again.reason().as_str()), (401, "replayed"));
    let twice = stand.post_with(&format!("{headers}DPoP: {dpop}\r\n"), CALL.as_bytes()).await;
    assert_eq!((twice.status, twice.reason().as_str()), (400, "header_repeated"));
    let bare = stand.post_with(&format!("Authorization: Bearer {token}\r\n"), CALL.as_bytes()).await;
    assert_eq!((bare.status, bare.reason().as_str()), (401, "proof_missing"));
    assert_eq!(stand.upstream.received().len(), 1);
}

#[tokio::test]
async fn p4_a_biscuit_in_the_message_is_cut_out_of_it() {
    let stand = Stand::ready().await;
    let token = mint(&stand.issuer);
    let meta = format!(
        r#""_meta":{{"pact/proof":{{"dpop":"{}"}},"pact/credential":"{token}"}}"#,
        proof(&token, "two")
    );
    let answer = stand.post(&CALL.replace(r#""_meta":{}"#, &meta)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(stand.upstream.only_body(), CALL);
}
