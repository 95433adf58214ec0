use pact_mandate::Format;

use super::*;

const SIGNATURE: &str =
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";

fn params(meta: &str) -> Json {
    Json::parse(format!(r#"{{"name":"read","arguments":{{}},"_meta":{meta}}}"#).as_bytes()).unwrap()
}

fn from_meta(meta: &str) -> Result<(Presented, PresentedProof), Refusal> {
    read(Some(&params(meta)), Headers::default())
}

fn refused(result: Result<(Presented, PresentedProof), Refusal>) -> &'static str {
    result.unwrap_err().code()
}

fn tenuo_meta() -> String {
    format!(r#""tenuo":{{"warrant":"AAAA","signature":"{SIGNATURE}"}}"#)
}

#[test]
fn p1_a_tenuo_stack_and_its_fresh_members_are_read_from_meta() {
    let (credential, proof) = from_meta(&format!("{{{}}}", tenuo_meta())).unwrap();
    assert_eq!(credential.format(), Format::Tenuo);
    let PresentedProof::Tenuo { fresh: None, .. } = proof else { panic!("{proof:?}") };
    let fresh = r#""pact/proof":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1790000000}"#;
    let (_, proof) = from_meta(&format!("{{{},{fresh}}}", tenuo_meta())).unwrap();
    let PresentedProof::Tenuo { fresh: Some(fresh), .. } = proof else { panic!("{proof:?}") };
    assert_eq!(fresh.id, std::array::from_fn(|at| u8::try_from(at).unwrap()));
    assert_eq!(fresh.issued_at.seconds(), 1_790_000_000);
    let url_safe =
        format!(r#"{{"tenuo":{{"warrant":"AAAA","signature":"{}","approvals":[]}}}}"#, &SIGNATURE[..86]);
    assert!(from_meta(&url_safe).is_ok());
}

#[test]
fn p4_a_token_is_read_from_the_headers_or_from_meta() {
    let headers = Headers { authorization: &[b"dpop AAAA"], dpop: &[b"a.b.c"], ..Headers::default() };
    let (credential, proof) = read(Some(&params("{}")), headers).unwrap();
    assert_eq!((credential.format(), credential.text()), (Format::Biscuit, Some("AAAA")));
    assert_eq!(proof, PresentedProof::Dpop("a.b.c".to_owned()));
    let (credential, proof) =
        from_meta(r#"{"pact/credential":"biscuit:AAAA","pact/proof":{"dpop":"a.b.c"}}"#).unwrap();
    assert_eq!(credential.text(), Some("biscuit:AAAA"));
    assert_eq!(proof, PresentedProof::Dpop("a.b.c".to_owned()));
}

#[test]
fn p5_plain_http_carries_tenuo_in_its_own_headers() {
    let headers =
        Headers { tenuo_warrant: &[b"AAAA"], tenuo_pop: &[SIGNATURE.as_bytes()], ..Headers::default() };
    let (credential, proof) = read(None, headers).unwrap();
    assert_eq!(credential.format(), Format::Tenuo);
    assert!(matches!(proof, PresentedProof::Tenuo { .. }));
}

#[test]
fn p8_a_bearer_token_comes_without_a_proof() {
    let headers = Headers { authorization: &[b"Bearer AAAA"], ..Headers::default() };
    assert_eq!(read(None, headers).unwrap().1, PresentedProof::Missing);
    let both = Headers { dpop: &[b"a.b.c"], ..headers };
    assert_eq!(refused(read(None, both)), "carrier_mixed");
}

#[test]
fn c1_a_second_credential_is_refused_wherever_it_stands() {
    let bearer: &[&[u8]] = &[b"Bearer AAAA"];
    let basic: &[&[u8]] = &[b"Basic AAAA"];
    let warrant: &[&[u8]] = &[b"AAAA"];
    let tenuo = params(&format!("{{{}}}", tenuo_meta()));
    for authorization in [bearer, basic] {
        let headers = Headers { authorization, ..Headers::default() };
        assert_eq!(refused(read(Some(&tenuo), headers)), "credential_second");
    }
    let headers = Headers { tenuo_warrant: warrant, ..Headers::default() };
    assert_eq!(refused(read(Some(&tenuo), headers)), "credential_second");
    let headers = Headers { tenuo_warrant: warrant, authorization: bearer, ..Headers::default() };
    assert_eq!(refused(read(None, headers)), "credential_second");
    let both = format!(r#"{{{},"pact/credential":"AAAA"}}"#, tenuo_meta());
    assert_eq!(refused(from_meta(&both)), "credential_second");
}

#[test]
fn c1_a_header_that_must_be_single_is_refused_twice() {
    let twice: &[&[u8]] = &[b"DPoP AAAA", b"DPoP AAAA"];
    let one: &[&[u8]] = &[b"DPoP AAAA"];
    let cases = [
        Headers { authorization: twice, ..Headers::default() },
        Headers { authorization: one, dpop: twice, ..Headers::default() },
        Headers { tenuo_warrant: twice, ..Headers::default() },
        Headers { tenuo_warrant: one, tenuo_pop: twice, ..Headers::default() },
    ];
    for headers in cases {
        assert_eq!(refused(read(None, headers)), "header_repeated");
    }
}

#[test]
fn c1_the_parts_of_two_carriers_do_not_mix() {
    let dpop: &[&[u8]] = &[b"a.b.c"];
    let token: &[&[u8]] = &[b"DPoP AAAA"];
    let pop: &[&[u8]] = &[SIGNATURE.as_bytes()];
    let meta_proof = r#"{"pact/proof":{"dpop":"a.b.c"}}"#;
    let meta_token = r#"{"pact/credential":"AAAA"}"#;
    let tenuo = format!("{{{}}}", tenuo_meta());
    let cases: [(&str, Headers); 6] = [
        (meta_proof, Headers { authorization: token, ..Headers::default() }),
        (meta_token, Headers { dpop, ..Headers::default() }),
        (meta_token, Headers { tenuo_pop: pop, ..Headers::default() }),
        (&tenuo, Headers { dpop, ..Headers::default() }),
        (&tenuo, Headers { tenuo_pop: pop, ..Headers::default() }),
        ("{}", Headers { authorization: token, tenuo_pop: pop, ..Headers::default() }),
    ];
    for (meta, headers) in cases {
        assert_eq!(refused(read(Some(&params(meta)), headers)), "carrier_mixed", "{meta} {headers:?}");
    }
}

#[test]
fn what_is_missing_or_malformed_has_its_code() {
    let cases = [
        ("{}", "credential_missing"),
        (r#"{"pact/proof":{"dpop":"a.b.c"}}"#, "proof_without_credential"),
        ("[]", "member_malformed"),
        (r#"{"tenuo":[]}"#, "member_malformed"),
        (r#"{"tenuo":{"signature":"AAAA"}}"#, "member_malformed"),
        (r#"{"tenuo":{"warrant":1}}"#, "member_malformed"),
        (r#"{"tenuo":{"warrant":"AAAA","warrants":[]}}"#, "member_unknown"),
        (r#"{"tenuo":{"warrant":"AAAA","signature":"AAAA"}}"#, "proof_not_a_signature"),
        (r#"{"tenuo":{"warrant":"AAAA","approvals":["x"]}}"#, "approvals_not_judged"),
        (r#"{"tenuo":{"warrant":"A"}}"#, "credential_not_base64"),
        (
            r#"{"tenuo":{"warrant":"AAAA"},"pact/proof":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1}}"#,
            "carrier_mixed",
        ),
        (
            r#"{"tenuo":{"warrant":"AAAA"},"pact/proof":{"id":"AAECAwQFBgcICQoLDA0OD","iat":1}}"#,
            "member_malformed",
        ),
        (
            r#"{"tenuo":{"warrant":"AAAA"},"pact/proof":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1.5}}"#,
            "member_malformed",
        ),
        (r#"{"tenuo":{"warrant":"AAAA"},"pact/proof":{"id":"AAECAwQFBgcICQoLDA0ODw"}}"#, "member_malformed"),
        (r#"{"tenuo":{"warrant":"AAAA"},"pact/proof":{"dpop":"a.b.c"}}"#, "member_unknown"),
        (r#"{"pact/credential":"AAAA","pact/proof":{"dpop":"a","id":"b"}}"#, "member_unknown"),
        (r#"{"pact/credential":7}"#, "member_malformed"),
    ];
    for (meta, code) in cases {
        assert_eq!(refused(from_meta(meta)), code, "{meta}");
    }
    let header =
        |value: &'static [u8]| refused(read(None, Headers { authorization: &[value], ..Headers::default() }));
    assert_eq!(header(b"Basic AAAA"), "scheme_unknown");
    assert_eq!(header(b"DPoP"), "scheme_unknown");
    assert_eq!(header(b"DPoP \xff"), "header_malformed");
    assert_eq!(header(b"DPoP  AAAA"), "credential_not_base64");
}

#[test]
fn p1_the_members_of_a_tenuo_proof_may_stand_in_a_header_beside_its_signature() {
    let fresh: &[&[u8]] = &[br#"{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1790000000}"#];
    let (warrant, pop): (&[&[u8]], &[&[u8]]) = (&[b"AAAA"], &[SIGNATURE.as_bytes()]);
    let headers = Headers { tenuo_warrant: warrant, tenuo_pop: pop, pact_proof: fresh, ..Headers::default() };
    let (_, proof) = read(None, headers).unwrap();
    let PresentedProof::Tenuo { fresh: Some(read_fresh), .. } = proof else { panic!("{proof:?}") };
    assert_eq!(read_fresh.issued_at.seconds(), 1_790_000_000);
    // In one place, beside the signature that it belongs to, and in its one form.
    let meta = params(r#"{"pact/proof":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1790000000}}"#);
    assert_eq!(refused(read(Some(&meta), headers)), "carrier_mixed");
    let without = Headers { tenuo_pop: &[], ..headers };
    assert_eq!(refused(read(None, without)), "carrier_mixed");
    let alone = Headers { pact_proof: fresh, ..Headers::default() };
    assert_eq!(refused(read(None, alone)), "proof_without_credential");
    let in_meta = params(&format!("{{{}}}", tenuo_meta()));
    assert_eq!(refused(read(Some(&in_meta), alone)), "carrier_mixed");
    let token = Headers { authorization: &[b"DPoP AAAA"], dpop: &[b"a.b.c"], ..alone };
    assert_eq!(refused(read(None, token)), "carrier_mixed");
    for (text, code) in [
        (&b"id=1"[..], "header_malformed"),
        (br#"{"id":"AAECAwQFBgcICQoLDA0ODw"}"#, "member_malformed"),
        (br#"{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1,"x":1}"#, "member_unknown"),
    ] {
        assert_eq!(refused(read(None, Headers { pact_proof: &[text], ..headers })), code);
    }
    let twice = Headers { pact_proof: &[b"{}", b"{}"], ..headers };
    assert_eq!(refused(read(None, twice)), "header_repeated");
}
