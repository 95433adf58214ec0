use proptest::prelude::*;

use super::*;
use crate::{key::Signer, samples};

const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

fn public(seed: u8) -> PublicKey {
    *samples::key(seed).public_key()
}

fn jwk(more: &str) -> String {
    format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{X}"{more}}}"#)
}

fn read(keys: &[&str]) -> Result<KeySet, KeySetError> {
    KeySet::from_document(format!(r#"{{"keys":[{}]}}"#, keys.join(",")).as_bytes())
}

#[test]
fn a_published_set_is_read() {
    let set = read(&[&jwk(r#","kid":"a","use":"sig","alg":"EdDSA","key_ops":["verify"],"x5t":"ignored""#)])
        .unwrap();
    assert_eq!(set.keys(), [("a".parse().unwrap(), X.parse().unwrap())]);
    assert!(set.contains(&X.parse().unwrap()) && !set.contains(&public(1)));
    assert_eq!(set.key(&"a".parse().unwrap()), Some(&X.parse().unwrap()));
    assert_eq!(set.key(&"b".parse().unwrap()), None);
    assert_eq!(read(&[&jwk(r#","kid":"a","alg":"Ed25519""#)]).unwrap(), set);
}

#[test]
fn k3_a_set_that_publishes_a_secret_is_refused_whole() {
    let good = jwk(r#","kid":"a""#);
    for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] {
        for kind in [r#""kty":"OKP","crv":"Ed25519""#, r#""kty":"RSA""#, r#""kty":"oct""#, r#""use":"enc""#] {
            let leaking = format!(r#"{{{kind},"kid":"b","{member}":"AAAA"}}"#);
            assert_eq!(read(&[&good, &leaking]), Err(KeySetError::PrivateMember(1)), "{leaking}");
        }
    }
}

#[test]
fn k3_a_kid_or_key_twice_is_refused() {
    let other = jwk(r#","kid":"a""#).replace(X, &public(1).to_string());
    assert_eq!(read(&[&jwk(r#","kid":"a""#), &other]), Err(KeySetError::Duplicate(1)));
    assert_eq!(read(&[&jwk(r#","kid":"a""#), &jwk(r#","kid":"b""#)]), Err(KeySetError::Duplicate(1)));
    // One kid for our key and for a kind that we pass over.
    let foreign = r#"{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"a"}"#;
    assert_eq!(read(&[foreign, &jwk(r#","kid":"a""#)]), Err(KeySetError::Duplicate(1)));
    assert!(read(&[foreign, &jwk(r#","kid":"b""#)]).is_ok());
    let twice = jwk(r#","kid":"a","kid":"b""#);
    assert!(matches!(read(&[&twice]), Err(KeySetError::Json(_))));
}

#[test]
fn k3_a_set_without_a_usable_key_is_refused() {
    let ec = r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"a"}"#;
    let keys = [
        ec.to_owned(),
        jwk(r#","kid":"a","use":"enc""#),
        jwk(r#","kid":"a","alg":"ES256""#),
        jwk(r#","kid":"a","key_ops":["sign"]"#),
        jwk(r#","kid":"a","use":1"#),
    ];
    assert_eq!(read(&[]), Err(KeySetError::NoUsableKey));
    for key in &keys {
        assert_eq!(read(&[key]), Err(KeySetError::NoUsableKey), "{key}");
    }
}

#[test]
fn k3_a_bad_key_that_would_be_used_refuses_the_whole_set() {
    let good = jwk(r#","kid":"a""#);
    let with = |x: &str| jwk(r#","kid":"b""#).replace(X, x);
    let weak = with("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(read(&[&good, &weak]), Err(KeySetError::BadKey { at: 1, fault: KeyError::Weak }));
    for x in ["", "AAAA", &format!("{X}="), &format!("{X}AA"), "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo"]
    {
        assert_eq!(
            read(&[&good, &with(x)]),
            Err(KeySetError::BadKey { at: 1, fault: KeyError::NotAKey }),
            "{x}"
        );
    }
    let no_x = r#"{"kty":"OKP","crv":"Ed25519","kid":"b"}"#;
    assert_eq!(read(&[&good, no_x]), Err(KeySetError::BadKey { at: 1, fault: KeyError::NotAKey }));
    assert_eq!(read(&[&jwk("")]), Err(KeySetError::NoKeyId(0)));
    for kid in ["1", "null", "\"a:b\"", "\"\""] {
        let named = jwk(&format!(r#","kid":{kid}"#));
        assert_eq!(read(&[&named]), Err(KeySetError::BadKey { at: 0, fault: KeyError::NotAKeyId }), "{kid}");
    }
}

#[test]
fn what_is_no_key_set_is_refused() {
    for text in ["[]", "{}", r#"{"keys":{}}"#, r#"{"keys":null}"#, r#"{"keys":[1]}"#, r#"{"keys":[[]]}"#] {
        assert_eq!(KeySet::from_document(text.as_bytes()), Err(KeySetError::NotAKeySet), "{text}");
    }
    assert!(matches!(KeySet::from_document(b"{\"keys\":[]"), Err(KeySetError::Json(_))));
    assert_eq!(read(&[&jwk(r#","kid":"a","key_ops":"verify""#)]), Err(KeySetError::NotAKeySet));
}

#[test]
fn c1_a_set_is_bounded() {
    let padded = |size: usize| {
        let key = jwk(r#","kid":"a""#);
        let empty = format!(r#"{{"keys":[{key}],"pad":""}}"#).len();
        format!(r#"{{"keys":[{key}],"pad":"{}"}}"#, "x".repeat(size - empty))
    };
    assert!(KeySet::from_document(padded(MAX_KEY_SET_BYTES).as_bytes()).is_ok());
    assert_eq!(KeySet::from_document(padded(MAX_KEY_SET_BYTES + 1).as_bytes()), Err(KeySetError::TooLarge));
    let foreign = vec![r#"{"kty":"x"}"#; MAX_KEYS + 1];
    assert_eq!(read(&foreign), Err(KeySetError::TooMany));
    assert_eq!(read(&foreign[..MAX_KEYS]), Err(KeySetError::NoUsableKey));
    let keys = (0..=64_u8).map(|seed| (format!("k{seed}").parse().unwrap(), public(seed))).collect();
    assert_eq!(KeySet::new(keys), Err(KeySetError::TooMany));
}

#[test]
fn the_published_document_is_that_of_rfc_8037() {
    let set = KeySet::new(vec![("a".parse().unwrap(), X.parse().unwrap())]).unwrap();
    let text = format!(
        r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"a","use":"sig","alg":"EdDSA","x":"{X}"}}]}}"#
    );
    assert_eq!(set.to_document(), text);
    assert_eq!(KeySet::default().to_document(), r#"{"keys":[]}"#);
}

proptest! {
    #[test]
    fn a_document_comes_back(seeds in prop::collection::btree_set(any::<u8>(), 1..8)) {
        let keys = seeds.into_iter().map(|seed| (public(seed).thumbprint().into(), public(seed))).collect();
        let set = KeySet::new(keys).unwrap();
        prop_assert_eq!(KeySet::from_document(set.to_document().as_bytes()).unwrap(), set);
    }

    #[test]
    fn any_document_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert!(KeySet::from_document(&bytes).is_err());
    }
}
