//! What stands in `deploy` is what this sidecar reads.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in a test a panic is a failure, also in what the tests share"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use pact_sidecar::{Config, check};

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

fn text(file: &str) -> String {
    fs::read_to_string(deploy().join(file)).unwrap()
}

#[test]
fn each_configuration_passes_the_check() {
    for file in
        ["compose/sidecar.toml", "compose/shared.toml", "kubernetes/sidecar.toml", "systemd/sidecar.toml"]
    {
        let config = Config::read(&deploy().join(file)).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        check(&config).unwrap_or_else(|fault| panic!("{file}: {fault}"));
    }
}

/// With the signs of a comment before `[replay]` taken away, as its comment says.
#[test]
fn what_is_there_to_be_uncommented_is_read_too() {
    for file in ["kubernetes/sidecar.toml", "systemd/sidecar.toml"] {
        let whole = text(file);
        let open: Vec<&str> = whole
            .lines()
            .map(|line| {
                line.strip_prefix("# ").filter(|rest| rest.starts_with('[') || rest.contains(" = \""))
            })
            .zip(whole.lines())
            .map(|(opened, line)| opened.unwrap_or(line))
            .collect();
        let open = open.join("\n");
        assert!(open.contains("\n[replay]\nredis = "), "{open}");
        let config = Config::from_toml(&open, &deploy()).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        assert!(config.effective().contains("password_file"), "{}", config.effective());
    }
}

/// The ports and paths that others are told are those of the configuration.
#[test]
fn probes_ports_and_folders_agree_with_the_configuration() {
    let (config, pod) = (text("kubernetes/sidecar.toml"), text("kubernetes/deployment.yaml"));
    for (ours, theirs) in [
        ("listen = \"0.0.0.0:8080\"", "{name: mcp, containerPort: 8080}"),
        ("admin_listen = \"0.0.0.0:9090\"", "{name: admin, containerPort: 9090}"),
        ("state_dir = \"/var/lib/pact\"", "{name: state, mountPath: /var/lib/pact}"),
        ("url = \"http://127.0.0.1:9000/mcp\"", "{name: PORT, value: \"9000\"}"),
        ("password_file = \"/etc/pact-redis/password\"", "mountPath: /etc/pact-redis,"),
    ] {
        assert!(config.contains(ours) && pod.contains(theirs), "{ours} and {theirs}");
    }
    let policy = text("kubernetes/networkpolicy.yaml");
    let open: Vec<&str> = policy.lines().filter(|line| line.contains("port:")).collect();
    assert_eq!(open.len(), 2, "the tool server's port is not among them: {open:?}");
    assert!(open.iter().all(|line| line.contains("8080") || line.contains("9090")), "{open:?}");
}
