//! The crate's own samples, found where cargo keeps them: the same results through our adapter, and what admission
//! says to each (`verifier/tests/biscuit_samples.md`).

use std::{fmt::Write, fs, path::PathBuf, process::Command, sync::Arc};

use biscuit_auth::{
    AuthorizerBuilder, Biscuit, PublicKey as CrateKey,
    builder::{Algorithm, Term},
    datalog::ExternFunc,
    error::{FailedCheck, Format, Logic, MatchedPolicy, Signature, Token as CrateError},
};
use p256::ecdsa::Signature as P256Signature;
use pact_mandate::PublicKey;
use serde_json::{Value, json};

use super::forge::{NOW, at, issuer};
use crate::{
    format::biscuit::{BiscuitFault, admission::admit, check_structure, engine, open, signature},
    trust::{RootKey, TrustSnapshot},
};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/biscuit_samples.md");
const HEAD: &str = "# What admission says to the 38 samples of biscuit-auth 6.0.0

Held by the test `c3_the_table_says_what_becomes_of_each_sample` (`BLESS=1` writes it anew); `admitted` is judged on the structure alone,
`opened` with the samples' root trusted. The samples are made to exercise the language, so most of them are what a
gateway must not take: facts that speak for the request, no end.

| sample | title | admitted | opened |
|---|---|---|---|
";

struct Samples {
    folder: PathBuf,
    root: Vec<u8>,
    cases: Vec<Value>,
}

fn samples() -> Samples {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "biscuit-auth").unwrap();
    assert_eq!(package["version"], "6.0.0");
    let folder = PathBuf::from(package["manifest_path"].as_str().unwrap()).with_file_name("samples");
    let samples: Value = serde_json::from_slice(&fs::read(folder.join("samples.json")).unwrap()).unwrap();
    let root = samples["root_public_key"].as_str().unwrap();
    Samples { folder, root: bytes(root), cases: samples["testcases"].as_array().unwrap().clone() }
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|b| u8::from_str_radix(std::str::from_utf8(b).unwrap(), 16).unwrap())
        .collect()
}

impl Samples {
    fn token(&self, case: &Value) -> Vec<u8> {
        fs::read(self.folder.join(case["filename"].as_str().unwrap())).unwrap()
    }

    /// The samples' root; the P-256 samples have the same one.
    fn trust(&self) -> TrustSnapshot {
        let key = PublicKey::from_bytes(self.root.as_slice().try_into().unwrap()).unwrap();
        let root = RootKey::Ed25519 { id: "samples".parse().unwrap(), key };
        TrustSnapshot::new(vec![issuer("samples.example", vec![root])]).unwrap()
    }
}

/// The identity of one argument; of two texts, whether they are equal.
fn external() -> ExternFunc {
    let text = |text: &str| Ok(Term::Str(text.to_owned()));
    ExternFunc::new(Arc::new(move |left, right| match (left, right) {
        (term, None) => Ok(term),
        (Term::Str(left), Some(Term::Str(right))) => {
            text(if left == right { "equal strings" } else { "different strings" })
        }
        _ => Err("unsupported operands".to_owned()),
    }))
}

/// A validation through our adapter, in the samples' own words.
fn play(token: &[u8], root: &[u8], code: &str) -> Value {
    let key = CrateKey::from_bytes(root, Algorithm::Ed25519).unwrap();
    let verified = engine::guarded(|| Biscuit::from(token, key));
    let result = verified.unwrap().and_then(|token| {
        let builder = AuthorizerBuilder::new()
            .set_limits(engine::wide_limits())
            .register_extern_func("test".to_owned(), external())
            .code(code)?;
        engine::evaluate(builder, &token).unwrap()
    });
    match result {
        Ok(policy) => json!({ "Ok": policy }),
        Err(error) => json!({ "Err": words(&error) }),
    }
}

fn words(error: &CrateError) -> Value {
    match error {
        CrateError::FailedLogic(Logic::Unauthorized { policy, checks }) => {
            let policy = match policy {
                MatchedPolicy::Allow(at) => json!({ "Allow": at }),
                MatchedPolicy::Deny(at) => json!({ "Deny": at }),
            };
            let checks: Vec<Value> = checks.iter().map(check_words).collect();
            json!({ "FailedLogic": { "Unauthorized": { "policy": policy, "checks": checks } } })
        }
        CrateError::FailedLogic(Logic::InvalidBlockRule(at, rule)) => {
            json!({ "FailedLogic": { "InvalidBlockRule": [at, rule] } })
        }
        CrateError::Execution(error) => json!({ "Execution": format!("{error:?}") }),
        CrateError::Format(Format::Signature(Signature::InvalidSignature(text))) => {
            json!({ "Format": { "Signature": { "InvalidSignature": text } } })
        }
        CrateError::Format(Format::BlockSignatureDeserializationError(text)) => {
            json!({ "Format": { "BlockSignatureDeserializationError": text } })
        }
        other => json!(format!("{other:?}")),
    }
}

fn check_words(check: &FailedCheck) -> Value {
    match check {
        FailedCheck::Block(failed) => {
            json!({ "Block": { "block_id": failed.block_id, "check_id": failed.check_id, "rule": failed.rule } })
        }
        FailedCheck::Authorizer(failed) => {
            json!({ "Authorizer": { "check_id": failed.check_id, "rule": failed.rule } })
        }
    }
}

#[test]
fn c3_each_sample_has_the_same_result_through_our_adapter() {
    let samples = samples();
    let mut validations = 0;
    assert_eq!(samples.cases.len(), 38);
    for case in &samples.cases {
        let token = samples.token(case);
        for (name, validation) in case["validations"].as_object().unwrap() {
            let code = validation["authorizer_code"].as_str().unwrap();
            let result = play(&token, &samples.root, code);
            assert_eq!(result, validation["result"], "{} {name}", case["filename"]);
            validations += 1;
        }
    }
    assert_eq!(validations, 50);
}

#[test]
fn r1_an_admitted_samples_ids_are_its_revocation_ids() {
    let samples = samples();
    let trust = samples.trust();
    let mut compared = 0;
    for case in &samples.cases {
        let token = samples.token(case);
        let Ok(admitted) = admit(&token) else { continue };
        let Ok(verified) = signature::verify(&token, &admitted.envelope, &trust) else { continue };
        let validation = case["validations"].as_object().unwrap().values().next().unwrap();
        let expected: Vec<&str> =
            validation["revocation_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        for (id, expected) in verified.ids.iter().zip(&expected) {
            // The crate names a P-256 block by its DER signature as it came.
            let der = bytes(expected);
            let fixed = P256Signature::from_der(&der).map(|parsed| parsed.normalize_s().unwrap_or(parsed));
            assert_eq!(*id, fixed.map_or(der, |fixed| fixed.to_bytes().to_vec()), "{}", case["filename"]);
        }
        assert_eq!(verified.ids.len(), expected.len());
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn c3_the_table_says_what_becomes_of_each_sample() {
    let samples = samples();
    let trust = samples.trust();
    let mut table = HEAD.to_owned();
    for case in &samples.cases {
        let token = samples.token(case);
        let structure = match check_structure(&token) {
            Ok(()) => "yes".to_owned(),
            Err(BiscuitFault::Structure { place, defect }) => {
                format!("no: `{}` ({place}: {defect})", defect.code())
            }
            Err(other) => format!("no: `{}`", other.code()),
        };
        let opened = match open(&token, &trust, at(NOW)) {
            Ok(_) => "yes".to_owned(),
            Err(BiscuitFault::Structure { .. }) => String::new(),
            Err(other) => format!("no: `{}`", other.code()),
        };
        let number = case["filename"].as_str().unwrap().split('_').next().unwrap().trim_start_matches("test");
        writeln!(table, "| {number} | {} | {structure} | {opened} |", case["title"].as_str().unwrap())
            .unwrap();
    }
    let table = table.replace(" |  |\n", " | |\n");
    if std::env::var_os("BLESS").is_some() {
        fs::write(TABLE, &table).unwrap();
    }
    let committed = fs::read_to_string(TABLE).unwrap_or_default();
    assert!(committed == table, "{TABLE} should be:\n{table}");
}
