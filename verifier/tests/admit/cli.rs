//! `pact-verify`, as a process: files in, verdict and exit code out.

mod receipts;
mod trust_file;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use base64::{Engine, engine::general_purpose::STANDARD, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{Format, Json};
use pact_revocation::Entry;
use pact_verifier::PresentedProof;
use tempfile::TempDir;

use crate::{biscuit, tenuo, world::*};

const TRUST: &str = r#"
[[issuers]]
id = "https://issuer.example"
formats = ["tenuo", "biscuit"]
actions = ["task.*"]
projects = ["web"]
keys = "keys.json"
[issuers.list]
keys = "list-keys.json"
head = "head"
bodies = "bodies"
"#;

/// A folder with everything that a call is judged by.
struct Folder {
    place: TempDir,
    world: World,
    credential: Credential,
}

impl Folder {
    fn new(world: World, credential: Credential) -> Folder {
        let made = Folder { place: TempDir::new().unwrap(), world, credential };
        made.write("trust.toml", TRUST);
        made.write("policy.toml", POLICY);
        made.write("keys.json", key_set(ROOT).to_document());
        made.write("list-keys.json", key_set(LIST).to_document());
        fs::create_dir(made.place.path().join("bodies")).unwrap();
        made.list(&[]);
        made.request("read_file", r#"{"cost":1}"#);
        made
    }

    fn tenuo() -> Folder {
        let (credential, now) = tenuo::mint();
        Folder::new(World::new(now), credential)
    }

    fn biscuit() -> Folder {
        Folder::new(World::new(biscuit::start()), biscuit::mint(Some(AGENT)))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.place.path().join(name), content).unwrap();
    }

    fn list(&self, revoked: &[Entry]) {
        let published = publish(ISSUER, LIST, &Format::ALL, self.world.now, revoked);
        self.write("head", published.head_bytes().unwrap());
        self.write(&format!("bodies/{}", published.body().name()), published.body_bytes());
    }

    /// A request with a new proof.
    fn request(&self, tool: &str, arguments: &str) {
        let call = self.world.judged("read_file", arguments).unwrap();
        let meta = match self.world.prove(&self.credential, &call, AGENT) {
            PresentedProof::Tenuo { signature, fresh } => {
                let fresh = fresh.unwrap();
                let (signature, id) =
                    (STANDARD.encode(signature.as_bytes()), URL_SAFE_NO_PAD.encode(fresh.id));
                let text = &self.credential.text;
                format!(
                    r#"{{"tenuo":{{"warrant":"{text}","signature":"{signature}"}},"pact/proof":{{"id":"{id}","iat":{}}}}}"#,
                    fresh.issued_at.seconds()
                )
            }
            PresentedProof::Dpop(jws) => {
                format!(r#"{{"pact/credential":"{}","pact/proof":{{"dpop":"{jws}"}}}}"#, self.credential.text)
            }
            PresentedProof::Missing => unreachable!(),
        };
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}"#);
        self.write(
            "call.json",
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#),
        );
    }

    fn run(&self, command: &str, more: &[&str]) -> Output {
        let now = self.world.now.wall.seconds().to_string();
        let path = |name: &str| self.place.path().join(name).display().to_string();
        Command::new(env!("CARGO_BIN_EXE_pact-verify"))
            .args([command, "--trust", &path("trust.toml"), "--audience", AUDIENCE, "--now", &now])
            .args(
                more.iter().map(|argument| argument.replace("DIR", &self.place.path().display().to_string())),
            )
            .output()
            .unwrap()
    }

    fn check(&self, more: &[&str]) -> (i32, Json) {
        let request = ["--policy", "DIR/policy.toml", "--request", "DIR/call.json"];
        let output = self.run("check", &[&request, more].concat());
        let verdict = Json::parse(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        (output.status.code().unwrap(), verdict)
    }

    fn code(&self, more: &[&str]) -> (i32, String) {
        let (exit, verdict) = self.check(more);
        (exit, verdict.get("code").and_then(Json::as_str).unwrap_or("none").to_owned())
    }
}

fn text<'a>(verdict: &'a Json, names: &[&str]) -> &'a str {
    names.iter().fold(verdict, |value, name| value.get(name).unwrap()).as_str().unwrap()
}

const WITHOUT: &[&str] = &["--without-replay"];

#[test]
fn a_permitted_call_exits_0_and_the_verdict_names_what_it_rests_on() {
    for folder in [Folder::tenuo(), Folder::biscuit()] {
        let (exit, verdict) = folder.check(WITHOUT);
        assert_eq!((exit, text(&verdict, &["decision"])), (0, "permit"), "{verdict:?}");
        assert_eq!(text(&verdict, &["single_use"]), "left_out_by_without_replay");
        assert_eq!(text(&verdict, &["credential", "issuer"]), ISSUER);
        assert_eq!(text(&verdict, &["credential", "root_key"]), key_set(ROOT).keys()[0].0.as_str());
        assert_eq!(text(&verdict, &["credential", "holder"]), public(AGENT).thumbprint().to_string());
        assert_eq!(verdict.get("list").unwrap().get("version").unwrap().as_u64(), Some(1));
        assert_eq!(verdict.get("list").unwrap().get("age_seconds").unwrap().as_u64(), Some(0));
        assert_eq!(verdict.get("code"), Some(&Json::Null));
    }
}

#[test]
fn without_a_state_folder_single_use_is_not_judged() {
    let folder = Folder::tenuo();
    assert_eq!(folder.code(&[]), (2, "single_use_not_judged".to_owned()));
    folder.list(&folder.credential.entries);
    assert_eq!(folder.code(&[]), (1, "revoked".to_owned()), "what is refused anyway is refused");
}

#[test]
fn p7_with_a_state_folder_a_proof_counts_once_and_not_from_before_it() {
    for mut folder in [Folder::tenuo(), Folder::biscuit()] {
        let state: &[&str] = &["--state", "DIR/state"];
        assert_eq!(folder.code(state), (1, "proof_before_store".to_owned()));
        folder.world.now = later(folder.world.now, 6);
        folder.request("read_file", r#"{"cost":1}"#);
        assert_eq!(folder.code(state), (0, "none".to_owned()));
        assert_eq!(folder.code(state), (1, "replayed".to_owned()));
    }
}

#[test]
fn r7_with_a_state_folder_an_older_list_is_refused() {
    let mut folder = Folder::tenuo();
    let state: &[&str] = &["--state", "DIR/state"];
    folder.list(&[Entry::of_warrant(&[9; 16])]);
    folder.code(state);
    // The same version with another content.
    folder.list(&[]);
    folder.world.now = later(folder.world.now, 6);
    folder.request("read_file", r#"{"cost":1}"#);
    let (exit, verdict) = folder.check(state);
    assert_eq!((exit, text(&verdict, &["code"])), (1, "list_missing"));
    let Some(Json::Array(refused)) = verdict.get("refused_lists") else { panic!() };
    assert_eq!(refused.len(), 1, "{refused:?}");
}

#[test]
fn a_refusal_exits_1_with_code_rule_rung_and_link() {
    let folder = Folder::tenuo();
    folder.list(&folder.credential.entries[1..2]);
    let (exit, verdict) = folder.check(WITHOUT);
    assert_eq!((exit, text(&verdict, &["code"]), text(&verdict, &["rule"])), (1, "revoked", "R3"));
    assert_eq!(verdict.get("link").unwrap().as_u64(), Some(1));
    assert_eq!(verdict.get("rung").unwrap().as_u64(), Some(3));
    assert_eq!(text(&verdict, &["credential", "issuer"]), ISSUER);
    folder.list(&[]);
    folder.request("read_file", r#"{"cost":3}"#);
    assert_eq!(folder.code(WITHOUT), (1, "tenuo_outside_constraint".to_owned()));
    folder.request("write_file", "{}");
    assert_eq!(folder.code(WITHOUT).0, 1);
}

#[test]
fn what_cannot_be_read_exits_2_and_says_which() {
    let folder = Folder::tenuo();
    folder.write("trust.toml", TRUST.replace("actions", "actoins"));
    let (exit, verdict) = folder.check(WITHOUT);
    assert_eq!((exit, text(&verdict, &["decision"])), (2, "not_judged"));
    assert!(text(&verdict, &["reason"]).contains("did you mean actions?"), "{verdict:?}");
    folder.write("trust.toml", TRUST.replace("keys.json", "nowhere.json"));
    assert_eq!(folder.code(WITHOUT), (2, "input_unusable".to_owned()));
    folder.write("trust.toml", TRUST);
    folder.write("call.json", "{");
    assert_eq!(folder.code(WITHOUT), (2, "input_unusable".to_owned()));
}

#[test]
fn the_parts_of_a_call_can_be_given_one_by_one() {
    let folder = Folder::tenuo();
    let arguments = r#"{"cost_usd":1,"project":"web"}"#;
    let call = folder.world.judged("task.read", arguments).unwrap();
    let PresentedProof::Tenuo { signature, .. } =
        tenuo_stock(&folder.credential, &call, AGENT, folder.world.now.wall)
    else {
        panic!()
    };
    folder.write("stack", &folder.credential.text);
    folder.write("proof", format!(r#"{{"signature":"{}"}}"#, STANDARD.encode(signature.as_bytes())));
    let parts =
        ["--credential", "DIR/stack", "--format", "tenuo", "--proof", "DIR/proof", "--tool", "task.read"];
    let more = ["--args", arguments, "--without-replay", "--stock-proofs"];
    let output = folder.run("check", &[&parts[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = folder.run("check", &[&parts[..], &more[..3]].concat());
    assert!(String::from_utf8(output.stdout).unwrap().contains("stock_proof_refused"));
}

#[test]
fn explain_tells_each_rung_in_words_and_shows_no_credential() {
    let folder = Folder::biscuit();
    let more = ["--policy", "DIR/policy.toml", "--request", "DIR/call.json", "--without-replay"];
    let told = String::from_utf8(folder.run("explain", &more).stdout).unwrap();
    for rung in 0..=4 {
        assert!(told.contains(&format!("rung {rung}  ")), "{told}");
    }
    assert!(told.trim_end().ends_with("verdict: permit"), "{told}");
    assert!(!told.contains(&folder.credential.text[..40]));
    folder.list(&folder.credential.entries);
    let told = String::from_utf8(folder.run("explain", &more).stdout).unwrap();
    assert!(told.contains("REFUSED: link 0 of the credential is on the revocation list"), "{told}");
    assert!(told.trim_end().ends_with("verdict: refuse"), "{told}");
}

#[test]
fn a_biscuit_comes_in_headers_too() {
    let folder = Folder::biscuit();
    let call = folder.world.judged("read_file", "{}").unwrap();
    let PresentedProof::Dpop(jws) = folder.world.prove(&folder.credential, &call, AGENT) else { panic!() };
    folder
        .write("headers", format!("Authorization: DPoP {}\nDPoP: {jws}\nHost: x\n", folder.credential.text));
    let params = r#"{"name":"read_file"}"#;
    folder
        .write("call.json", format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#));
    let more: &[&str] = &["--headers", "DIR/headers", "--without-replay"];
    assert_eq!(folder.code(more), (0, "none".to_owned()));
}

#[test]
fn the_help_is_a_page_to_work_from() {
    let output = Command::new(env!("CARGO_BIN_EXE_pact-verify")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    for part in ["check", "explain", "Exit codes", "[[issuers]]", "[tools.read_file]", "Example"] {
        assert!(help.contains(part), "{part} is missing:\n{help}");
    }
    assert!(Path::new(env!("CARGO_BIN_EXE_pact-verify")).exists());
}
