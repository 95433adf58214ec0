use std::path::Path;

use super::*;

const KEY: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const OTHER: &str = "FxJ2H2xNyXu2dSMNCtDaPDtUxE6mPkZ5hGR6cXxeVnA";

fn text() -> String {
    format!(
        r#"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
audience = "https://tools.example.org/mcp"
policy = "policy.toml"
state_dir = "state"

[upstream]
url = "http://127.0.0.1:9000/mcp"

[[issuers]]
id = "acme"
roots = ["{KEY}"]
list_keys_url = "https://acme.example/.well-known/pact-list-keys.json"
lists_url = "https://acme.example/.well-known/pact-revocations/pact"

[issuers.speaks]
formats = ["tenuo", "biscuit"]
actions = ["task.*"]
projects = ["web"]
"#
    )
}

fn read(text: &str) -> Result<Config, ConfigError> {
    Config::from_toml(text, Path::new("/etc/pact"))
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn defaults_are_filled_in_and_printed() {
    let config = read(&text()).unwrap();
    assert_eq!(config.path, "/mcp");
    assert_eq!(config.policy, Path::new("/etc/pact/policy.toml"));
    assert!(config.effective().contains("body_bytes = 1048576"), "{}", config.effective());
    assert!(config.effective().contains("recheck = \"1s\""));
    let again = Config::from_toml(config.effective(), Path::new("/etc/pact")).unwrap();
    assert_eq!(again.effective(), config.effective());
}

#[test]
fn an_unknown_key_is_an_error_that_names_the_nearest() {
    let wrong = text().replace("lists_url", "list_url");
    assert_eq!(
        message(&wrong),
        "unknown key `issuers.list_url`; the nearest known one is `issuers.lists_url`"
    );
    let wrong = text().replace("admin_listen", "admin_lisen");
    assert_eq!(message(&wrong), "unknown key `admin_lisen`; the nearest known one is `admin_listen`");
    let wrong = text() + "[limits]\nbody_byte = 1\n";
    assert_eq!(
        message(&wrong),
        "unknown key `limits.body_byte`; the nearest known one is `limits.body_bytes`"
    );
}

#[test]
fn a_key_named_twice_is_an_error() {
    assert!(message(&text().replace("audience", "listen = \"127.0.0.1:1\"\naudience")).contains("duplicate"));
}

#[test]
fn k2_an_issuer_must_say_whom_it_is_believed_by_and_for_what() {
    assert!(matches!(read(&text().replace("roots", "#")), Err(ConfigError::NoRoots(_))));
    assert!(matches!(read(&text().replace("list_keys_url", "#")), Err(ConfigError::NoListKeys(_))));
    for needed in ["formats", "actions", "projects", "lists_url"] {
        assert!(matches!(read(&text().replace(needed, "#")), Err(ConfigError::Toml(_))), "{needed}");
    }
    let open = read(&text().replace("[\"web\"]", "[\"*\"]")).unwrap();
    assert!(matches!(open.issuers[0].speaks.projects, pact_verifier::trust::Projects::All));
    assert!(matches!(read(&text().replace("[\"web\"]", "[\"*\", \"web\"]")), Err(ConfigError::Project)));
}

#[test]
fn k1_a_key_has_one_role() {
    let both = text().replace("list_keys_url", &format!("list_keys = [\"ours:{KEY}\"]\nlist_keys_url"));
    assert!(matches!(read(&both), Err(ConfigError::Owners(TrustError::TwoRoles { .. }))));
    let apart = text().replace("list_keys_url", &format!("list_keys = [\"ours:{OTHER}\"]\nlist_keys_url"));
    assert_eq!(read(&apart).unwrap().issuers[0].list_keys[0].id.as_str(), "ours");
}

/// What acme has pinned cannot be pinned for another issuer as well, in whatever role.
#[test]
fn k3_a_pinned_key_of_another_issuer_is_refused() {
    let (head, acme) = (text(), text());
    let acme = acme.split_once("[[issuers]]").unwrap().1;
    let beta = |roots: &str, lists: &str| {
        let beta = acme.replace("\"acme\"", "\"beta\"");
        let beta = beta.replace(&format!("roots = [\"{KEY}\"]"), roots).replace("list_keys_url = \"", lists);
        read(&format!("{head}\n[[issuers]]{beta}"))
    };
    let apart = format!("roots = [\"{OTHER}\"]");
    assert!(beta(&apart, "list_keys_url = \"").is_ok());
    let shared = |result: Result<Config, ConfigError>| {
        matches!(result, Err(ConfigError::Owners(TrustError::SharedKey { .. })))
    };
    assert!(shared(beta(&format!("roots = [\"{KEY}\"]"), "list_keys_url = \"")));
    assert!(shared(beta(&apart, &format!("list_keys = [\"{KEY}\"]\nlist_keys_url = \""))));
}

/// A point of P-256, as a list of the conformance vectors would write it.
const POINT: &str = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";

#[test]
fn k5_a_p256_root_can_be_pinned_and_is_a_root_alone() {
    use pact_verifier::trust::RootKey;
    let pinned = |keys: &str| text().replace(&format!("roots = [\"{KEY}\"]"), &format!("roots = [{keys}]"));
    let config = read(&pinned(&format!("\"{KEY}\", \"ours:{POINT}\""))).unwrap();
    let [RootKey::Ed25519 { .. }, RootKey::P256 { id, sec1 }] =
        [0, 1].map(|at| config.issuers[0].roots[at].key())
    else {
        panic!("{:?}", config.issuers[0].roots)
    };
    assert_eq!((id.as_str(), pact_mandate::hex::encode(sec1)), ("ours", POINT.to_owned()));
    let again = Config::from_toml(config.effective(), Path::new("/etc/pact")).unwrap();
    assert_eq!(again.effective(), config.effective());
    let unnamed = read(&pinned(&format!("\"{POINT}\""))).unwrap();
    let root = unnamed.issuers[0].roots[0].key();
    assert_eq!(root.id().to_string(), root.thumbprint().unwrap().to_string());
    for wrong in [
        POINT.to_uppercase(),
        POINT.replace("036b", "046b"),
        format!("02{}", "f".repeat(64)),
        POINT[2..].to_owned(),
    ] {
        assert!(matches!(read(&pinned(&format!("\"{wrong}\""))), Err(ConfigError::Toml(_))), "{wrong}");
    }
    let list = text().replace("list_keys_url", &format!("list_keys = [\"{POINT}\"]\nlist_keys_url"));
    assert!(matches!(read(&list), Err(ConfigError::Toml(_))), "lists are signed by Ed25519 keys");
}

#[test]
fn bounds_have_bounds() {
    for wrong in [
        "body_bytes = 1",
        "recheck = \"49s\"",
        "requests = 0",
        "write_timeout = \"49s\"",
        "head_bytes = 100",
        "drain = \"0s\"",
    ] {
        assert!(read(&(text() + "[limits]\n" + wrong)).is_err(), "{wrong}");
    }
    assert!(read(&(text() + "[keys]\nhard = \"10s\"")).is_err());
    let without = text().split("[[issuers]]").next().unwrap().to_owned();
    assert!(matches!(read(&("issuers = []\n".to_owned() + &without)), Err(ConfigError::Issuers)));
}

#[test]
fn the_path_is_plain() {
    for path in ["mcp", "/a//b", "/../a", "/a%2f", "/a?b", "/a\\\\b", "/a/./b"] {
        let wrong = text().replace("policy =", &format!("path = \"{path}\"\npolicy ="));
        assert!(matches!(read(&wrong), Err(ConfigError::Path)), "{path}");
    }
}

fn started(more: &str) -> String {
    text()
        .replace("url = \"http://127.0.0.1:9000/mcp\"", &format!("command = [\"./server\", \"-v\"]\n{more}"))
}

#[test]
fn a_tool_server_runs_somewhere_or_is_started_here() {
    let neither = text().replace("url = \"http://127.0.0.1:9000/mcp\"", "");
    let both = started("url = \"http://127.0.0.1:9000/mcp\"");
    for wrong in [neither, both] {
        assert!(message(&wrong).contains("either `url`"), "{}", message(&wrong));
    }
    let wrong = text().replace("[upstream]", "[upstream]\nfolder = \"x\"");
    assert_eq!(message(&wrong), "`upstream.folder` is for `upstream.command` alone");
    for (more, key) in [
        ("connect_timeout = \"5s\"", "upstream.connect_timeout"),
        ("max_children = 3", "upstream.max_children"),
        ("message_bytes = 1", "upstream.message_bytes"),
        ("[upstream.env]\n\"A=B\" = \"\"", "upstream.env"),
        ("folde = \"x\"", "upstream.folde"),
    ] {
        assert!(message(&started(more)).contains(&format!("`{key}`")), "{}", message(&started(more)));
    }
    let empty = started("").replace("[\"./server\", \"-v\"]", "[]");
    assert!(message(&empty).contains("`upstream.command`"));
}

#[test]
fn paths_stand_beside_the_file_and_values_of_the_environment_are_printed_nowhere() {
    let config = read(&started("folder = \"work\"\n[upstream.env]\nTOKEN = \"swordfish\"")).unwrap();
    let UpstreamPlace::Command(command) = &config.upstream.place else { panic!("{:?}", config.upstream) };
    assert_eq!(command.program, Path::new("/etc/pact/./server"));
    assert_eq!(command.folder.as_deref(), Some(Path::new("/etc/pact/work")));
    assert_eq!(command.env["TOKEN"].as_str(), "swordfish");
    assert!(config.effective().contains("max_children = 32") && config.effective().contains("TOKEN"));
    assert!(!format!("{config:?}{}", config.effective()).contains("swordfish"));
    let other = read(&started("folder = \"work\"\n[upstream.env]\nTOKEN = \"other\"")).unwrap();
    assert_eq!(config.needs_restart_for(&other), Some("upstream"));
}

#[test]
fn the_revisions_of_the_tool_server_are_known_ones_and_all_where_nothing_is_said() {
    let all = "revisions = [\n    \"2026-07-28\",\n    \"2025-11-25\",\n    \"2025-06-18\",\n]";
    assert!(read(&text()).unwrap().effective().contains(all), "{}", read(&text()).unwrap().effective());
    let with = |list: &str| text().replace("[upstream]", &format!("[upstream]\nrevisions = {list}"));
    let one = read(&with("[\"2026-07-28\"]")).unwrap();
    assert_eq!(one.upstream.revisions.as_slice(), ["2026-07-28"]);
    for none in ["[]", "[\"2024-11-05\"]", "[\"2026-07-28\", \"2026-07-28\"]"] {
        assert!(message(&with(none)).contains("one or more of 2026-07-28"), "{none}");
    }
}
