//! The README's commands, run as they stand there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::{fs, path::Path, process::Command};

/// The lines of all `sh` blocks of the README.
fn commands() -> String {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let mut inside = false;
    let mut commands = String::from("set -eu\n");
    for line in readme.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => {
                commands.push_str(line);
                commands.push('\n');
            }
            _ => {}
        }
    }
    commands
}

#[test]
fn the_walkthrough_of_the_readme_runs() {
    let dir = tempfile::tempdir().unwrap();
    let commands = commands();
    assert!(commands.lines().count() > 15, "the README lost its commands");
    let binary = Path::new(env!("CARGO_BIN_EXE_pact-issuer"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .arg("-c")
        .arg(&commands)
        .current_dir(dir.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(complained.contains("task.read@project:secret is not covered by the parent"), "{complained}");
    assert!(said.contains("boss (human)"), "{said}");
    let last = said.rsplit("boss (human)").next().unwrap();
    assert!(last.contains("revoked at") && last.contains("dead with mandate"), "{last}");
    assert!(dir.path().join("public/.well-known/pact-revocations/pact/index.html").exists());
}
