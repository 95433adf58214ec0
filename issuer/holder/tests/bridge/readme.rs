//! The README's files and commands, used as they stand there.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::{
    child::{Bridge, Folder, call, stack},
    server::Server,
};

/// The first block of that kind after the words.
fn block(after: &str, kind: &str) -> String {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let rest = readme.split_once(after).unwrap().1;
    let rest = rest.split_once(&format!("```{kind}\n")).unwrap().1;
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_walkthrough_works_as_it_is_printed() {
    let (server, folder) = (Server::start(), Folder::new());
    fs::remove_file(folder.path("agent.key")).unwrap();
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_pact-holder"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let made = Command::new("sh")
        .args(["-euc", &block("The agent's key, once", "sh")])
        .current_dir(folder.path(""))
        .env("PATH", &path)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    folder.write("agent.tenuo", &stack("order.refund", "shop"));
    let config = block("Then `bridge.toml`", "toml");
    folder.write("bridge.toml", &config.replace("http://127.0.0.1:8080/mcp", &server.url()));
    let client: Value = serde_json::from_str(&block("And `.mcp.json`", "json")).unwrap();
    let shop = &client["mcpServers"]["shop"];
    let arguments: Vec<&str> =
        shop["args"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let mut command = Command::new(shop["command"].as_str().unwrap());
    command.args(arguments).current_dir(folder.path("")).env("PATH", &path);
    let mut bridge = Bridge::start(command);
    let mut refund = call(1);
    refund["params"]["name"] = "refund_order".into();
    assert_eq!(bridge.ask(&refund.to_string())["result"]["content"][0]["text"], "done");
    assert!(server.seen()[0].meta()["tenuo"]["signature"].is_string());
}

#[test]
fn every_code_of_the_bridge_stands_in_the_readme() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bridge"));
    let mut codes = Vec::new();
    for folder in [source.to_owned(), source.join("listen")] {
        for entry in fs::read_dir(folder).unwrap() {
            let Ok(text) = fs::read_to_string(entry.unwrap().path()) else { continue };
            codes.extend(codes_in(text.split("mod tests").next().unwrap()));
        }
    }
    assert!(codes.len() > 30, "{codes:?}");
    for code in codes {
        assert!(readme.contains(&format!("`{code}`")), "{code} stands in no row of the README");
    }
}

fn codes_in(text: &str) -> Vec<String> {
    let quoted = |rest: &str| Some(rest.split('"').next()?.to_owned());
    let here = text.split("Refused::here(").skip(1);
    let here = here.filter_map(|rest| quoted(rest.trim_start().strip_prefix('"')?));
    let named = text.split("fn code(").skip(1).filter_map(|rest| rest.split("\n    }\n").next());
    let named = named.flat_map(|body| body.split("=> \"").skip(1).filter_map(quoted).collect::<Vec<_>>());
    here.chain(named).collect()
}
