use pact_mandate::{SecretKey, Signer, canonical::CanonicalError, json::JsonError};
use proptest::prelude::*;

use super::*;
use crate::proof::params_digest;

const NOW: u64 = 1_798_859_045;
const TOKEN: &str = "En0KEwoEMTIzNBgDIgkKBwgKEgMYgAg=";

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn holder() -> SecretKey {
    SecretKey::from_seed(&[7; 32]).unwrap()
}

fn audience() -> Audience {
    "https://tools.example.org/mcp".parse().unwrap()
}

fn asked() -> Asked {
    let params = Json::parse(br#"{"name":"read_file","_meta":{"x":1}}"#).unwrap();
    Asked {
        tool: "read_file".into(),
        arguments: Json::parse(br#"{"path":"/a","cost":1.50}"#).unwrap(),
        params: params_digest("tools/call", &params).unwrap(),
    }
}

fn header() -> String {
    format!(
        r#"{{"typ":"dpop+jwt","alg":"EdDSA","jwk":{{"kty":"OKP","crv":"Ed25519","x":"{}"}}}}"#,
        holder().public_key()
    )
}

/// The claims as pact-holder makes them, decoded.
fn claims() -> String {
    let key = holder();
    let (asked, audience) = (asked(), audience());
    let draft = Draft {
        holder: key.public_key(),
        token_text: TOKEN,
        asked: &asked,
        audience: &audience,
        jti: "AAAAAAAAAAAAAAAAAAAAAA",
        issued_at: at(NOW),
    };
    let input = draft.signing_input().unwrap();
    let (_, claims) = input.split_once('.').unwrap();
    String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

fn sign(header: &str, claims: &str) -> String {
    let input = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    assemble(&input, &holder().sign(input.as_bytes()).unwrap())
}

fn judge_at(proof: &str, now: u64) -> Result<ProvenBy, DpopFault> {
    verify(proof, TOKEN, holder().public_key(), &asked(), &audience(), at(now)).map_err(|fault| match fault {
        ProofFault::Dpop(fault) => fault,
        other @ ProofFault::Tenuo(_) => panic!("{other}"),
    })
}

fn judge(proof: &str) -> Result<ProvenBy, DpopFault> {
    judge_at(proof, NOW)
}

/// What becomes of the honest proof with one text of its header changed.
fn with_header(from: &str, to: &str) -> Result<ProvenBy, DpopFault> {
    assert!(header().contains(from), "{from}");
    judge(&sign(&header().replace(from, to), &claims()))
}

/// What becomes of the honest proof with one text of its claims changed.
fn with_claims(from: &str, to: &str) -> Result<ProvenBy, DpopFault> {
    assert!(claims().contains(from), "{from}");
    judge(&sign(&header(), &claims().replace(from, to)))
}

#[test]
fn p4_an_honest_proof_holds_and_is_named_by_its_jti() {
    let proven = judge(&sign(&header(), &claims())).unwrap();
    assert_eq!(proven.holder, *holder().public_key());
    assert_eq!(proven.id, <[u8; 32]>::from(Sha256::digest("AAAAAAAAAAAAAAAAAAAAAA")));
    assert_eq!(proven.made_at, at(NOW));
    assert_eq!(proven.ends_at, at(NOW + 61));
}

#[test]
fn p4_the_claims_are_these() {
    let claims = claims();
    let expected = format!(
        concat!(
            r#"{{"ath":"{}","htm":"POST","htu":"https://tools.example.org/mcp","iat":1798859045,"#,
            r#""jti":"AAAAAAAAAAAAAAAAAAAAAA","pact_args":"{}","pact_params":"{}","pact_tool":"read_file"}}"#
        ),
        URL_SAFE_NO_PAD.encode(Sha256::digest(TOKEN)),
        URL_SAFE_NO_PAD.encode(Sha256::digest(r#"{"cost":1.5,"path":"/a"}"#)),
        URL_SAFE_NO_PAD.encode(Sha256::digest(r#"{"method":"tools/call","params":{"name":"read_file"}}"#)),
    );
    assert_eq!(claims, expected);
}

#[test]
fn p4_typ_and_alg_are_fixed() {
    assert_eq!(with_header("dpop+jwt", "jwt"), Err(DpopFault::Type));
    assert_eq!(with_header("EdDSA", "none"), Err(DpopFault::Algorithm));
    assert_eq!(with_header("EdDSA", "ES256"), Err(DpopFault::Algorithm));
    assert_eq!(with_header("EdDSA", "HS256"), Err(DpopFault::Algorithm));
    assert_eq!(with_header(r#""alg":"EdDSA","#, ""), Err(DpopFault::Missing { member: "alg" }));
    assert_eq!(with_header(r#""typ":"dpop+jwt","#, ""), Err(DpopFault::Missing { member: "typ" }));
}

#[test]
fn p4_jwk_is_the_holder_and_nothing_more() {
    let other = SecretKey::from_seed(&[8; 32]).unwrap();
    let own = holder().public_key().to_string();
    assert_eq!(with_header(&own, &other.public_key().to_string()), Err(DpopFault::NotTheHolder));
    assert_eq!(with_header(r#""kty":"OKP""#, r#""kty":"EC""#), Err(DpopFault::Key));
    assert_eq!(with_header("Ed25519", "X25519"), Err(DpopFault::Key));
    assert_eq!(with_header(r#""kty":"#, r#""kid":"a","kty":"#), Err(DpopFault::Key));
    assert_eq!(with_header(r#""kty":"#, r#""d":"AA","kty":"#), Err(DpopFault::PrivateKey));
    assert_eq!(with_header(r#""kty":"#, r#""k":"AA","kty":"#), Err(DpopFault::PrivateKey));
    assert_eq!(
        judge(&sign(r#"{"typ":"dpop+jwt","alg":"EdDSA"}"#, &claims())),
        Err(DpopFault::Missing { member: "jwk" })
    );
    assert_eq!(judge(&sign(r#"{"typ":"dpop+jwt","alg":"EdDSA","jwk":"x"}"#, &claims())), Err(DpopFault::Key));
}

#[test]
fn p4_another_keys_proof_with_its_own_jwk_is_not_the_holders() {
    let other = SecretKey::from_seed(&[8; 32]).unwrap();
    let header = header().replace(&holder().public_key().to_string(), &other.public_key().to_string());
    let input = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims()));
    assert_eq!(
        judge(&assemble(&input, &other.sign(input.as_bytes()).unwrap())),
        Err(DpopFault::NotTheHolder)
    );
    let input =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(super::tests::header()), URL_SAFE_NO_PAD.encode(claims()));
    assert_eq!(judge(&assemble(&input, &other.sign(input.as_bytes()).unwrap())), Err(DpopFault::Signature));
}

#[test]
fn p4_htm_and_htu_are_the_configured_ones() {
    assert_eq!(with_claims("POST", "GET"), Err(DpopFault::Method));
    assert_eq!(with_claims("tools.example.org/mcp", "tools.example.org/mcp/"), Err(DpopFault::Target));
    assert_eq!(with_claims("tools.example.org", "TOOLS.example.org"), Err(DpopFault::Target));
}

#[test]
fn p4_ath_is_over_the_token_text_as_sent() {
    let proof = sign(&header(), &claims());
    let key = holder();
    for other in ["En0KEwoEMTIzNBgDIgkKBwgKEgMYgAg", "biscuit:En0KEwoEMTIzNBgDIgkKBwgKEgMYgAg=", ""] {
        let refused = verify(&proof, other, key.public_key(), &asked(), &audience(), at(NOW));
        assert_eq!(refused, Err(DpopFault::Token.into()));
    }
}

#[test]
fn p4_jti_has_1_to_128_bytes() {
    let jti = "AAAAAAAAAAAAAAAAAAAAAA";
    assert_eq!(with_claims(jti, ""), Err(DpopFault::Id));
    assert_eq!(with_claims(jti, &"a".repeat(129)), Err(DpopFault::Id));
    assert!(with_claims(jti, &"a".repeat(128)).is_ok());
    assert_eq!(
        with_claims(r#""jti":"AAAAAAAAAAAAAAAAAAAAAA""#, r#""jti":1"#),
        Err(DpopFault::NotAText { member: "jti" })
    );
}

#[test]
fn p4_iat_lies_within_60_seconds_back_and_5_ahead() {
    let proof = sign(&header(), &claims());
    assert!(judge_at(&proof, NOW + 60).is_ok());
    assert_eq!(judge_at(&proof, NOW + 61), Err(DpopFault::TooOld { seconds: 61 }));
    assert!(judge_at(&proof, NOW - 5).is_ok());
    assert_eq!(judge_at(&proof, NOW - 6), Err(DpopFault::FromTheFuture { seconds: 6 }));
    for bad in ["1798859045.5", "\"1798859045\"", "-1", "1e9", "99999999999999"] {
        assert_eq!(with_claims("1798859045", bad), Err(DpopFault::NotATime), "{bad}");
    }
    assert_eq!(with_claims(r#""iat":1798859045,"#, ""), Err(DpopFault::Missing { member: "iat" }));
}

#[test]
fn p4_tool_arguments_and_params_are_those_of_the_call() {
    let proof = sign(&header(), &claims());
    let key = holder();
    let judge = |asked: &Asked| verify(&proof, TOKEN, key.public_key(), asked, &audience(), at(NOW));
    let other = Asked { tool: "write_file".into(), ..asked() };
    assert_eq!(judge(&other), Err(DpopFault::Tool.into()));
    let other = Asked { arguments: Json::parse(br#"{"path":"/a","cost":1.51}"#).unwrap(), ..asked() };
    assert_eq!(judge(&other), Err(DpopFault::Arguments.into()));
    let other = Asked { params: [0; 32], ..asked() };
    assert_eq!(judge(&other), Err(DpopFault::Params.into()));
    let same = Asked { arguments: Json::parse(br#"{"cost":15e-1,"path":"\u002fa"}"#).unwrap(), ..asked() };
    assert!(judge(&same).is_ok());
    let vague = Asked { arguments: Json::parse(br#"{"cost":9007199254740993}"#).unwrap(), ..asked() };
    assert!(matches!(
        judge(&vague),
        Err(ProofFault::Dpop(DpopFault::NotCanonical(CanonicalError::InexactNumber(_))))
    ));
}

#[test]
fn p2_arguments_beginning_with_at_are_refused() {
    let proof = sign(&header(), &claims());
    let key = holder();
    let asked = Asked { arguments: Json::parse(br#"{"@tool":"x"}"#).unwrap(), ..asked() };
    let refused = verify(&proof, TOKEN, key.public_key(), &asked, &audience(), at(NOW));
    assert_eq!(refused, Err(DpopFault::ReservedArgument.into()));
}

#[test]
fn p4_header_and_claims_are_closed() {
    assert_eq!(with_claims(r#"{"ath""#, r#"{"nonce":"n","ath""#), Err(DpopFault::Nonce));
    assert!(matches!(with_claims(r#"{"ath""#, r#"{"exp":1,"ath""#), Err(DpopFault::UnknownMember { .. })));
    assert!(matches!(
        with_header(r#"{"typ""#, r#"{"crit":["b64"],"typ""#),
        Err(DpopFault::UnknownMember { .. })
    ));
    assert!(matches!(with_header(r#"{"typ""#, r#"{"kid":"a","typ""#), Err(DpopFault::UnknownMember { .. })));
    assert!(matches!(
        with_claims(r#"{"ath""#, r#"{"htm":"POST","ath""#),
        Err(DpopFault::NotJson(JsonError { .. }))
    ));
    for claim in CLAIMS.iter().filter(|claim| **claim != "iat") {
        let renamed = claims().replace(&format!(r#""{claim}":"#), r#""gone":"#);
        assert!(matches!(judge(&sign(&header(), &renamed)), Err(DpopFault::UnknownMember { .. })), "{claim}");
        let members = Json::parse(claims().as_bytes()).unwrap();
        let span = members.members().unwrap().iter().find(|m| m.name == **claim).unwrap().span.clone();
        let mut text = claims();
        text.replace_range(span, r#""iat":1798859045"#);
        let text = text.replacen(r#""iat":1798859045,"#, "", 1).replace(",,", ",");
        assert_eq!(judge(&sign(&header(), &text)), Err(DpopFault::Missing { member: claim }), "{claim}");
    }
}

#[test]
fn p4_only_a_compact_jws_is_read() {
    let proof = sign(&header(), &claims());
    for bad in [
        "",
        ".",
        "..",
        "a.b",
        &format!("{proof}="),
        &format!("{proof}."),
        &format!(" {proof}"),
        &proof.replacen('.', "=.", 1),
        &format!("a.{proof}"),
    ] {
        assert_eq!(judge(bad), Err(DpopFault::NotJws), "{bad}");
    }
    assert_eq!(judge(&"a".repeat(MAX_DPOP_BYTES + 1)), Err(DpopFault::TooLarge));
    assert_eq!(judge(&sign("[]", &claims())), Err(DpopFault::NotJws));
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        let _ = judge(&text);
    }

    #[test]
    fn p4_a_proof_with_one_letter_changed_is_refused(at in 0..400_usize, letter in "[A-Za-z0-9_-]") {
        let proof = sign(&header(), &claims());
        let at = at % proof.len();
        let mut bent = proof.clone();
        bent.replace_range(at..=at, &letter);
        prop_assume!(bent != proof);
        prop_assert!(judge(&bent).is_err());
    }
}
