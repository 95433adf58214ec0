//! The policies that are given as examples, read and asked.

#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure, also in what the tests share")]

use pact_mandate::{Asked, Json};
use pact_verifier::Policy;

const FILESYSTEM: &str = include_str!("../policies/filesystem.toml");

fn judged(policy: &Policy, tool: &str, arguments: &str) -> String {
    let arguments = Json::parse(arguments.as_bytes()).unwrap();
    match policy.judge(Asked { tool: tool.to_owned(), arguments, params: [0; 32] }) {
        Ok(call) => format!("{}@{}", call.judged.action, call.judged.project().unwrap()),
        Err(refusal) => refusal.code().to_owned(),
    }
}

#[test]
fn the_filesystem_policy_puts_each_path_into_its_project() {
    let policy = Policy::from_toml(FILESYSTEM).unwrap();
    for (tool, arguments, wanted) in [
        ("read_text_file", r#"{"path":"/srv/web/a.txt","head":10}"#, "task.read@web"),
        ("read_text_file", r#"{"path":"/srv/docs/a.txt"}"#, "task.read@docs"),
        ("read_text_file", r#"{"path":"/srv/web/../docs/a.txt"}"#, "path_not_plain"),
        ("read_text_file", r#"{"path":"/etc/passwd"}"#, "value_not_mapped"),
        ("read_text_file", r#"{"path":"~/a"}"#, "value_not_mapped"),
        ("read_text_file", r#"{"path":"\"/srv/docs/a.txt\""}"#, "value_not_mapped"),
        ("read_text_file", r#"{"path":"/srv/web/a","head":1000000}"#, "argument_outside"),
        ("read_multiple_files", r#"{"paths":["/srv/web/a","/srv/web/b/c"]}"#, "task.read@web"),
        ("read_multiple_files", r#"{"paths":["/srv/web/a","/srv/docs/b"]}"#, "arguments_differ"),
        ("list_directory_with_sizes", r#"{"path":"/srv/web","sortBy":"size"}"#, "task.read@web"),
        ("list_directory_with_sizes", r#"{"path":"/srv/web","sortBy":"date"}"#, "argument_outside"),
        ("search_files", r#"{"path":"/srv/web","pattern":"**/*.md"}"#, "task.read@web"),
        ("write_file", r#"{"path":"/srv/web/a","content":"x"}"#, "task.work@web"),
        ("write_file", r#"{"path":"/srv/web/a","content":"x","mode":"0777"}"#, "argument_not_named"),
        ("edit_file", r#"{"path":"/srv/docs/a","edits":[{"oldText":"a","newText":"b"}]}"#, "task.work@docs"),
        ("move_file", r#"{"source":"/srv/web/a","destination":"/srv/web/b"}"#, "task.work@web"),
        ("move_file", r#"{"source":"/srv/web/a","destination":"/srv/docs/b"}"#, "arguments_differ"),
        ("move_file", r#"{"source":"/srv/web/a"}"#, "argument_missing"),
        ("list_allowed_directories", "{}", "tool_not_mapped"),
    ] {
        assert_eq!(judged(&policy, tool, arguments), wanted, "{tool} {arguments}");
    }
}
