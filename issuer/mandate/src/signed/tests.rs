use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    mandate::Mandate,
    samples::{key, keys, root, sign},
};

/// Another kind of statement with the members of a mandate's envelope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    crit: Vec<String>,
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    ext: Extensions,
    text: String,
    typ: String,
}

impl Statement for Note {
    const TYP: &'static str = "test-note/1";
    const MAX_BYTES: usize = 200;

    fn typ(&self) -> &str {
        &self.typ
    }

    fn crit(&self) -> &[String] {
        &self.crit
    }
}

fn note(text: &str) -> Note {
    Note { crit: vec![], ext: Extensions::new(), text: text.to_owned(), typ: Note::TYP.to_owned() }
}

/// An envelope around any bytes, rightly signed: what a careless issuer could have made.
fn signed_text<T: Statement>(payload: &str) -> Signed<T> {
    let signature = key(1).sign(payload.as_bytes()).unwrap();
    let signature = SignatureText::new(key(1).key_id().clone(), signature);
    Signed { payload: payload.to_owned(), signature, kind: PhantomData }
}

fn open(payload: &str) -> Result<Note, SignedError> {
    signed_text::<Note>(payload).open(&keys()).map(|authentic| authentic.statement)
}

#[test]
fn a_signed_statement_comes_back() {
    let signed = sign(note("x"));
    assert_eq!(signed.payload(), br#"{"text":"x","typ":"test-note/1"}"#);
    let bytes = signed.signed().to_bytes().unwrap();
    let back = Signed::<Note>::from_bytes(&bytes).unwrap();
    assert_eq!(back.unverified_key_id(), key(1).key_id());
    let back = back.open(&keys()).unwrap();
    assert_eq!(
        (back.statement(), back.key(), back.key_id()),
        (&note("x"), key(1).public_key(), key(1).key_id())
    );
}

#[test]
fn k7_one_kind_never_passes_for_another() {
    let other = r#"{"text":"x","typ":"test-note/2"}"#;
    assert_eq!(open(other), Err(SignedError::WrongType { wanted: Note::TYP }));
    let wrong = Note { typ: "pact-mandate/2".to_owned(), ..note("x") };
    assert!(matches!(Prepared::new(wrong), Err(SignedError::WrongType { .. })));
    // A mandate's bytes under their own signature are no note, and the other way round.
    let mandate = sign(root()).signed().to_bytes().unwrap();
    assert!(matches!(
        Signed::<Note>::from_bytes(&mandate).unwrap().open(&keys()),
        Err(SignedError::TooLarge { .. })
    ));
    let note = sign(note("x")).signed().to_bytes().unwrap();
    let opened = Signed::<Mandate>::from_bytes(&note).unwrap().open(&keys());
    assert!(matches!(opened, Err(SignedError::Content(CanonicalError::Malformed { .. }))));
}

#[test]
fn k7_unknown_members_are_refused_outside_ext() {
    let unknown = r#"{"text":"x","typ":"test-note/1","z":1}"#;
    assert!(matches!(open(unknown), Err(SignedError::Content(CanonicalError::Malformed { .. }))));
    let extended = r#"{"ext":{"z":[1,{"y":null}]},"text":"x","typ":"test-note/1"}"#;
    let read = open(extended).unwrap();
    assert_eq!(read.ext, Extensions::from([("z".to_owned(), json!([1, {"y": null}]))]));
    assert_eq!(sign(read).payload(), extended.as_bytes(), "an extension is kept as it is");
}

#[test]
fn k7_a_critical_extension_is_refused() {
    let critical = r#"{"crit":["z"],"ext":{"z":1},"text":"x","typ":"test-note/1"}"#;
    assert_eq!(open(critical), Err(SignedError::UnknownCritical));
    let wanted = Note { crit: vec!["z".to_owned()], ..note("x") };
    assert!(matches!(Prepared::new(wanted), Err(SignedError::UnknownCritical)));
    // An empty list is another spelling of none.
    let empty = r#"{"crit":[],"text":"x","typ":"test-note/1"}"#;
    assert_eq!(open(empty), Err(SignedError::Content(CanonicalError::NotCanonical)));
}

#[test]
fn k7_signed_bytes_are_canonical() {
    for other in [
        r#"{"typ":"test-note/1","text":"x"}"#,
        r#"{"text":"x", "typ":"test-note/1"}"#,
        r#"{"text":"\u0078","typ":"test-note/1"}"#,
        r#"{"ext":{"a":1,"a":1},"text":"x","typ":"test-note/1"}"#,
        r#"{"ext":{"a":9007199254740993},"text":"x","typ":"test-note/1"}"#,
        r#"{"ext":{"a":1.0},"text":"x","typ":"test-note/1"}"#,
    ] {
        assert_eq!(open(other), Err(SignedError::Content(CanonicalError::NotCanonical)), "{other}");
    }
    let twice = r#"{"text":"x","text":"x","typ":"test-note/1"}"#;
    assert!(matches!(open(twice), Err(SignedError::Content(CanonicalError::Malformed { .. }))));
}

#[test]
fn k7_numbers_that_readers_change_are_neither_signed_nor_read() {
    for number in [
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_993_u64),
        json!(-9_007_199_254_740_992_i64),
        json!(1.5),
        json!(1e300),
    ] {
        let ext = Extensions::from([("n".to_owned(), Value::from(vec![number.clone()]))]);
        let prepared = Prepared::new(Note { ext, ..note("x") }).map(|_| ());
        assert!(matches!(prepared, Err(SignedError::Content(CanonicalError::UnsafeNumber(_)))), "{number}");
    }
    let past = r#"{"ext":{"a":9007199254740992},"text":"x","typ":"test-note/1"}"#;
    assert_eq!(
        open(past),
        Err(SignedError::Content(CanonicalError::UnsafeNumber("9007199254740992".to_owned())))
    );
    assert!(open(&past.replace("992", "991")).is_ok());
}

#[test]
fn k7_a_bent_signature_or_text_is_refused() {
    let bytes = sign(note("hello")).signed().to_bytes().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let bent = text.replace("hello", "hallo");
    let opened = Signed::<Note>::from_bytes(bent.as_bytes()).unwrap().open(&keys());
    assert!(matches!(opened, Err(SignedError::BadSignature(_))));
    for at in 0..86 {
        let mut bytes = text.clone().into_bytes();
        let at = text.len() - "\"}".len() - 86 + at;
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let opened = Signed::<Note>::from_bytes(&bytes).and_then(|signed| signed.open(&keys()));
        assert!(matches!(opened, Err(SignedError::BadSignature(_) | SignedError::Envelope(_))), "{at}");
    }
}

#[test]
fn k1_a_key_that_is_not_of_this_role_is_refused() {
    let stranger = Prepared::new(note("x")).unwrap().sign(&key(2)).unwrap();
    let refused = stranger.signed().clone().open(&keys());
    assert_eq!(refused.unwrap_err(), SignedError::UnknownKey(key(2).key_id().clone()));
    // Under a known id the stranger's signature does not hold.
    let posing = Prepared::new(note("x")).unwrap().sign(&key(2).named(key(1).key_id().clone())).unwrap();
    assert!(matches!(posing.signed().clone().open(&keys()), Err(SignedError::BadSignature(_))));
}

#[test]
fn k7_a_signature_made_elsewhere_is_checked_before_it_is_used() {
    let prepared = || Prepared::new(note("x")).unwrap();
    let id = || key(1).key_id().clone();
    let good = key(1).sign(prepared().bytes()).unwrap();
    let issued = prepared().issue(id(), key(1).public_key(), good).unwrap();
    assert!(issued.signed().clone().open(&keys()).is_ok());
    let of_other_bytes = key(1).sign(b"other").unwrap();
    let by_other_key = key(2).sign(prepared().bytes()).unwrap();
    for bad in [of_other_bytes, by_other_key, Signature::from_bytes([0; 64])] {
        let refused = prepared().issue(id(), key(1).public_key(), bad);
        assert!(matches!(refused, Err(SignedError::BadSignature(_))));
    }
}

#[test]
fn a_signer_that_does_not_answer_gives_no_statement() {
    struct Silent(crate::keyfile::SecretKey);
    impl Signer for Silent {
        fn key_id(&self) -> &KeyId {
            self.0.key_id()
        }
        fn public_key(&self) -> &PublicKey {
            self.0.public_key()
        }
        fn sign(&self, _: &[u8]) -> Result<Signature, SignerUnavailable> {
            Err(SignerUnavailable { key: self.0.key_id().clone(), reason: "timed out".to_owned() })
        }
    }
    let refused = Prepared::new(note("x")).unwrap().sign(&Silent(key(1)));
    assert!(matches!(refused, Err(SignedError::Signer(_))));
}

#[test]
fn c1_sizes_are_bounded_before_work() {
    let long = note(&"x".repeat(200));
    assert_eq!(Prepared::new(long).err(), Some(SignedError::TooLarge { bytes: 231, limit: 200 }));
    let payload = format!(r#"{{"text":"{}","typ":"test-note/1"}}"#, "x".repeat(200));
    assert_eq!(open(&payload), Err(SignedError::TooLarge { bytes: 231, limit: 200 }));
    let refused = Signed::<Note>::from_bytes(&vec![b' '; 200 * 6 + 1025]);
    assert!(matches!(refused, Err(SignedError::TooLarge { .. })));
    // Every byte of the payload may need six in the envelope.
    let controls = note(&"\u{1}".repeat(28));
    let bytes = sign(controls).signed().to_bytes().unwrap();
    assert!(Signed::<Note>::from_bytes(&bytes).unwrap().open(&keys()).is_ok());
}

#[test]
fn the_envelope_is_as_strict_as_its_content() {
    let bytes = sign(note("x")).signed().to_bytes().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let signature = &text[text.find("ed25519").unwrap()..text.len() - 2];
    let spaced = text.replace(",\"signature", ", \"signature");
    let more = text.replace("{\"payload", "{\"other\":1,\"payload");
    let twice = text.replace("{\"payload\":", "{\"payload\":\"\",\"payload\":");
    let swapped = format!(r#"{{"signature":"{signature}","payload":"x"}}"#);
    for other in [spaced, more, twice, swapped, format!("{text}\n"), format!("\u{feff}{text}"), String::new()]
    {
        assert!(
            matches!(Signed::<Note>::from_bytes(other.as_bytes()), Err(SignedError::Envelope(_))),
            "{other}"
        );
    }
}

/// A signature text is the board's: exactly three parts, the last of 86 characters.
#[test]
fn a_signature_has_one_text() {
    let signature = key(1).sign(b"x").unwrap();
    let text = String::from(SignatureText::new("derived-1".parse().unwrap(), signature));
    assert_eq!(text.len(), "ed25519:derived-1:".len() + 86);
    assert_eq!(String::from(text.parse::<SignatureText>().unwrap()), text);
    let body = &text["ed25519:derived-1:".len()..];
    let others = [
        body.to_owned(),
        format!("ed25519:{body}"),
        format!("ed25519::{body}"),
        format!("ed25519:a:b:{body}"),
        format!("ED25519:derived-1:{body}"),
        format!("ed448:derived-1:{body}"),
        format!("ed25519:derived-1:{body}=="),
        format!("ed25519:derived-1:{}", &body[..85]),
        format!("ed25519:derived-1:{body}A"),
        format!("ed25519:derived-1:{body} "),
        format!("ed25519:derived 1:{body}"),
        // The last character carries four bits that belong to no byte.
        format!("ed25519:derived-1:{}B", &body[..85]),
        "de10b31ef3da6585f54c2f6b1f7f9030fa663b99aeb3d118afe24e0763a0891b".to_owned(),
    ];
    for other in others {
        assert!(other.parse::<SignatureText>().is_err(), "{other}");
    }
}

/// A mandate of the board's first version under the key of its golden vector: the same texts verify here.
#[test]
fn the_boards_golden_signature_verifies() {
    let payload = r#"{"delegations_left":2,"depth":0,"expires_at":"2027-01-02T03:04:05.678901+00:00","holder":"code-web","id":"11111111-1111-4111-8111-111111111111","issuer":"boss","issuer_kind":"human","limits":{"cost_usd":2.5,"runs":50},"parent_id":null,"scope":["task.read@project:web","task.work@project:web"]}"#;
    let signature: SignatureText = "ed25519:derived-1:hqf_bdGrS3DBbK3PwmpauSj3stzHZUtrA-T6l98yE3XIEG5ckXScY1W4mFE5fXLeWcrh4_iTjamvEboxdpb2CA".parse().unwrap();
    let public: PublicKey = "D5T2moudqkmPooUqXJ5ASZvejmYNA4yB3RD12LinPzQ".parse().unwrap();
    let keys = BTreeMap::from([("derived-1".parse().unwrap(), public)]);
    assert_eq!(signature.verify(payload.as_bytes(), &keys), Ok(public));
    assert!(signature.verify(payload.replace("50", "51").as_bytes(), &keys).is_err());
    assert_eq!(signature.unverified_key_id().as_str(), "derived-1");
}

#[test]
fn debug_forms_show_neither_signature_nor_unverified_content() {
    let signed = sign(note("hello")).signed().clone();
    let text = String::from_utf8(signed.to_bytes().unwrap()).unwrap();
    let body = &text[text.len() - 60..text.len() - 2];
    let shown = format!("{signed:?}");
    assert!(!shown.contains("hello") && !shown.contains(body), "{shown}");
}

proptest! {
    #[test]
    fn any_envelope_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Signed::<Note>::from_bytes(&bytes);
    }

    #[test]
    fn any_signed_content_is_answered(text in r#"[{}\[\]",:a-z0-9/\-. ]{0,80}"#) {
        prop_assert!(open(&text).is_err());
    }

    #[test]
    fn decoding_undoes_encoding(text in ".{0,40}") {
        prop_assume!(text.len() < 100);
        let signed = sign(note(&text));
        let bytes = signed.signed().to_bytes().unwrap();
        let back = Signed::<Note>::from_bytes(&bytes).unwrap();
        prop_assert_eq!(back.to_bytes().unwrap(), bytes);
        prop_assert_eq!(back.open(&keys()).unwrap().statement, note(&text));
    }
}
