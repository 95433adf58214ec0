//! The command's own words: configuration, and what is wrong with it.

use std::process::{Command, Output};

use crate::{
    child::{Bridge, Folder},
    server::Server,
};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pact-holder")).arg("bridge").args(arguments).output().unwrap()
}

#[test]
fn options_and_file_say_the_same() {
    let (server, folder) = (Server::start(), Folder::new());
    let file = folder.config(&server, "[upstreams.actions]\necho = \"echo\"");
    let printed = run(&["--config", file.to_str().unwrap(), "--print-config"]);
    let (key, tenuo) = (folder.path("agent.key"), folder.path("agent.tenuo"));
    let options = run(&[
        "--upstream",
        &server.url(),
        "--audience",
        "https://tools.example.org/mcp",
        "--key",
        key.to_str().unwrap(),
        "--tenuo",
        tenuo.to_str().unwrap(),
        "--action",
        "echo=echo",
        "--print-config",
    ]);
    assert!(printed.status.success() && options.status.success(), "{options:?}");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), String::from_utf8_lossy(&options.stdout));
    folder.write("printed.toml", &String::from_utf8(printed.stdout).unwrap());
    let mut bridge = Bridge::with(&folder.path("printed.toml"));
    assert_eq!(bridge.call(1)["result"]["content"][0]["text"], "done");
}

#[test]
fn a_mistake_is_named_and_nothing_runs() {
    let folder = Folder::new();
    folder.write("bridge.toml", "key = \"agent.key\"\n[[upstream]]\nurl = \"https://x.example/\"\n");
    let refused = run(&["--config", folder.path("bridge.toml").to_str().unwrap()]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("did you mean upstreams?"), "{said}");
    let refused = run(&["--upstream", "http://tools.example.org/", "--key", "k", "--tenuo", "t"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("neither https"), "{refused:?}");
    assert!(!run(&[]).status.success());
    let help = run(&["--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("--print-config"));
}
