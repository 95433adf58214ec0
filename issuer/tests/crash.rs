//! `kill -9` at any moment: nothing that was answered for is lost, and no number of a list is used for two sets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use pact_mandate::{Json, Signed};
use pact_revocation::head::Head;

struct World {
    dir: tempfile::TempDir,
    /// A little randomness without a dependency: a linear congruence.
    dice: u64,
    minted: BTreeSet<String>,
    revoked: BTreeSet<String>,
    seen: BTreeMap<u64, String>,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let world = World {
            dir,
            dice: 88_172_645_463_325_252,
            minted: BTreeSet::new(),
            revoked: BTreeSet::new(),
            seen: BTreeMap::new(),
        };
        world.ok(&["init", "--issuer", "example"]);
        world
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("public")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pact-issuer"));
        command.arg("--dir").arg(self.dir.path().join("data")).arg("--json").args(args);
        command.stdin(Stdio::null());
        command
    }

    fn ok(&self, args: &[&str]) -> Json {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Json::parse(output.stdout.trim_ascii_end()).unwrap()
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % below
    }

    fn mint(&self) -> String {
        let args = ["mint", "--human", "boss", "--holder", "agent-a", "--scope", "task.read@project:web"];
        self.ok(&args).get("id").unwrap().as_str().unwrap().to_owned()
    }

    /// Lets a child run for a moment, then kills it. What it answered before that counts.
    fn kill(&mut self, mut child: Child, within: u64) -> bool {
        std::thread::sleep(Duration::from_micros(self.roll(within)));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        // An answer is a whole line.
        output.stdout.ends_with(b"\n")
    }

    fn round(&mut self) {
        let id = self.mint();
        let signing = self
            .command(&["publish", "--out", self.out().to_str().unwrap(), "--every", "1s"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let compacting =
            self.command(&["compact"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let revoking =
            self.command(&["revoke", &id]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        if self.kill(revoking, 40_000) {
            self.revoked.insert(id.clone());
        }
        self.minted.insert(id);
        self.kill(compacting, 20_000);
        self.note();
        self.kill(signing, 40_000);
        self.note();
    }

    /// Each published number names one set.
    fn note(&mut self) {
        let head = self.out().join(".well-known/pact-revocations/pact/index.html");
        let Ok(bytes) = fs::read(head) else { return };
        let (version, entries) = head_of(&bytes, &self.keys());
        let first = self.seen.entry(version).or_insert_with(|| entries.clone());
        assert_eq!(*first, entries, "number {version} was used for two lists");
        let body = self.out().join(".well-known/pact-revocations/pact").join(&entries);
        assert!(body.exists(), "a head was published before its body");
    }

    fn keys(&self) -> pact_mandate::jwks::KeySet {
        let keys = self.ok(&["keys"]);
        let Some(Json::Array(keys)) = keys.get("keys") else { panic!("no keys") };
        let list = keys.iter().filter(|key| key.get("role").unwrap().as_str() == Some("list"));
        let text = |key: &Json, name: &str| key.get(name).unwrap().as_str().unwrap().to_owned();
        let set = list.map(|key| (text(key, "kid").parse().unwrap(), text(key, "key").parse().unwrap()));
        pact_mandate::jwks::KeySet::new(set.collect()).unwrap()
    }

    /// After all the kills: everything that was answered for stands in the journal, and in the list.
    fn settle(&mut self) {
        self.ok(&["compact"]);
        self.ok(&["publish", "--out", self.out().to_str().unwrap()]);
        self.note();
        let list = self.ok(&["list"]);
        let Some(Json::Array(mandates)) = list.get("mandates") else { panic!("no mandates") };
        let (mut kept, mut revoked) = (BTreeSet::new(), BTreeSet::new());
        for mandate in mandates {
            let id = mandate.get("id").unwrap().as_str().unwrap().to_owned();
            let state = mandate.get("state").unwrap().get("is").unwrap().as_str().unwrap();
            if state == "revoked" {
                revoked.insert(id.clone());
            }
            kept.insert(id);
        }
        assert_eq!(self.minted, kept, "a mandate that was answered for is lost");
        assert!(self.revoked.is_subset(&revoked), "a revocation that was answered for is lost");
        let bytes = fs::read(self.out().join(".well-known/pact-revocations/pact/index.html")).unwrap();
        let head = Signed::<Head>::from_bytes(&bytes).unwrap().open(&self.keys()).unwrap();
        assert_eq!(head.statement().entries().count, u64::try_from(revoked.len()).unwrap());
    }
}

fn head_of(bytes: &[u8], keys: &pact_mandate::jwks::KeySet) -> (u64, String) {
    let head = Signed::<Head>::from_bytes(bytes).unwrap().open(keys).unwrap();
    (head.statement().version().get(), head.statement().entries().sha256.to_string())
}

fn play(rounds: u32) {
    let mut world = World::new();
    for _ in 0..rounds {
        world.round();
    }
    world.settle();
    assert!(Path::new(&world.out()).exists());
}

#[test]
fn a_kill_at_any_moment_loses_no_revocation_and_repeats_no_number() {
    play(8);
}

#[test]
#[ignore = "long: run by .ci/deep"]
fn long_two_hundred_kills_lose_no_revocation_and_repeat_no_number() {
    play(200);
}
