//! What is refused, and where the edge lies.

use super::*;

#[test]
fn what_no_format_can_carry_is_refused_with_its_link() {
    let both = |links: &[Link<'_>]| {
        let chain = chain(links);
        [
            warrants::export(&chain, &order(), &issuer()).map(|_| Format::Tenuo),
            biscuit::export(&chain, &order(), &issuer()).map(|_| Format::Biscuit),
        ]
    };
    for result in both(&[(&["*@project:web"], &[], 1), (&["task.read@project:web"], &[], 0)]) {
        assert!(matches!(result, Err(ExportError::PatternAction { link: 0, .. })), "{result:?}");
    }
    for result in both(&[(&["task.read@project:web", "deploy"], &[], 1)]) {
        assert!(matches!(result, Err(ExportError::OpaqueScope { link: 0, .. })), "{result:?}");
    }
    let [tenuo, biscuit] = both(&[(&["tenuo:x@project:web"], &[], 1)]);
    assert!(matches!(tenuo, Err(ExportError::ReservedTool { link: 0, .. })), "{tenuo:?}");
    assert!(biscuit.is_ok());
    let [tenuo, biscuit] = both(&[(READ_WORK, &[], 1), (READ_WORK, &[("runs", "1")], 0)]);
    assert!(matches!(tenuo, Err(ExportError::LimitAddedBelow { link: 1, .. })), "{tenuo:?}");
    assert!(biscuit.is_ok());
}

#[test]
fn c4_an_amount_that_a_format_cannot_carry_exactly_is_refused() {
    // (amount, exact in Tenuo); every amount is exact in Biscuit.
    let amounts = [
        ("9007199254.740991", false),
        ("8589934592", true),
        ("8589934591.999999", true),
        ("9007199254.740992", false),
        ("9223372036854.775807", false),
        ("0.000001", true),
        ("0", true),
    ];
    for (amount, exact) in amounts {
        let chain = chain(&[(READ_WORK, &[("runs", amount)], 1)]);
        let tenuo = warrants::export(&chain, &order(), &issuer());
        assert_eq!(tenuo.is_ok(), exact, "{amount}: {tenuo:?}");
        if !exact {
            assert!(matches!(tenuo, Err(ExportError::InexactAmount { link: 0, .. })));
        }
        assert!(biscuit::export(&chain, &order(), &issuer()).is_ok(), "{amount}");
    }
}

#[test]
fn what_is_more_than_a_verifier_reads_is_refused_with_its_bound() {
    let names: Vec<String> = (0..63).map(|at| format!("task.a{at}@project:web")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let both = |links: &[Link<'_>]| {
        let chain = chain(links);
        (warrants::export(&chain, &order(), &issuer()), biscuit::export(&chain, &order(), &issuer()))
    };
    // With `holder` and `mandate`, 63 rights are 65 facts.
    let (tenuo, token) = both(&[(names.as_slice(), &[], 0)]);
    assert!(tenuo.is_ok(), "{tenuo:?}");
    assert!(matches!(token, Err(ExportError::TooMany { link: 0, count: 65, .. })), "{token:?}");
    let (_, token) = both(&[(&names[..62], &[], 0)]);
    assert!(token.is_ok(), "{token:?}");
    let limits: Vec<String> = (0..30).map(|at| format!("limit{at}")).collect();
    let limits: Vec<(&str, &str)> = limits.iter().map(|name| (name.as_str(), "1")).collect();
    let (tenuo, token) = both(&[(READ_WORK, limits.as_slice(), 0)]);
    assert!(tenuo.is_ok(), "{tenuo:?}");
    assert!(matches!(token, Err(ExportError::TooMany { link: 0, count: 33, .. })), "{token:?}");
    let long = format!("{}@project:web", "\u{e4}".repeat(180));
    let (tenuo, token) = both(&[(&[long.as_str()], &[], 0)]);
    assert!(matches!(tenuo, Err(ExportError::TooMany { link: 0, count: 360, .. })), "{tenuo:?}");
    assert!(token.is_ok(), "{token:?}");
}

#[test]
fn nothing_is_built_on_a_revoked_or_changed_record() {
    let mut records = records(&[(READ_WORK, &[], 1), (READ_WORK, &[], 0)], 3600);
    assert!(UnrevokedChain::verify(&records, &ring(), now()).is_ok());
    let end = records[0].expires_at;
    assert!(UnrevokedChain::verify(&records, &ring(), end).is_err(), "expired");
    records[0].revoked_at = Some(now());
    let error = UnrevokedChain::verify(&records, &ring(), now()).unwrap_err();
    assert!(matches!(error, crate::chain::NotUnrevoked::Revoked { mandate, .. } if mandate == id(1)));
    records[0].revoked_at = None;
    records[1].holder = "agent-9".parse().unwrap();
    let error = UnrevokedChain::verify(&records, &ring(), now()).unwrap_err();
    assert!(matches!(error, crate::chain::NotUnrevoked::RecordMismatch(mandate) if mandate == id(2)));
}
