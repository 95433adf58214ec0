//! Which credential goes where.

use serde_json::{Value, json};

use crate::{
    child::{Bridge, Folder, call, stack},
    server::{JSON, Reply, Server},
};

fn tools(listed: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": "ID", "result": {"tools": listed}}).to_string().replace("\"ID\"", "ID")
}

fn hinted(name: &str, action: &str, project: &Value) -> Value {
    let call = json!({"tool": name, "action": action, "project": project, "formats": ["tenuo"]});
    json!({"name": name, "inputSchema": {"type": "object"}, "_meta": {"pact/call": call}})
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

#[test]
fn m1_arguments_that_a_listed_tool_marks_are_repeated_in_headers() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let listed = r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{
        "text":{"type":"string","x-mcp-header":"Text"},"other":{"type":"string","x-mcp-header":"Other"}}}}]}}"#;
    server.then(Reply::Whole(JSON, listed.replace('\n', "")));
    bridge.ask(LIST);
    let older = call(2).to_string().replace(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#, "");
    bridge.call(1);
    bridge.ask(&older);
    let seen = server.seen();
    assert_eq!(seen[1].header("Mcp-Param-Text"), Some("x"));
    assert_eq!(seen[1].header("Mcp-Param-Other"), None, "the call has no such argument");
    assert_eq!(seen[2].header("Mcp-Param-Text"), None, "the older revisions know nothing of it");
}

#[test]
fn a_list_is_asked_for_with_the_credential_alone_and_its_hints_are_followed() {
    let (server, folder) = (Server::start(), Folder::new());
    folder.write("agent.tenuo", &stack("task.read", "web"));
    let mut bridge = Bridge::with(&folder.config(&server, ""));
    let listed = tools(&json!([hinted("echo", "task.read", &json!({"arg": "project"}))]));
    server.then(Reply::Whole(JSON, listed.clone()));
    bridge.write(LIST.as_bytes());
    assert_eq!(bridge.line(), listed.replace("ID", "\"l\""), "a single list is passed on as it came");
    assert_eq!(server.seen()[0].meta()["tenuo"], json!({"warrant": folder.read("agent.tenuo")}));
    bridge.call(1);
    assert_eq!(server.seen().len(), 2);
    assert!(server.seen()[1].meta()["tenuo"]["signature"].is_string());
}

#[test]
fn a_tool_that_nobody_listed_is_looked_up_once() {
    let (server, folder) = (Server::start(), Folder::new());
    folder.write("agent.tenuo", &stack("task.read", "web"));
    let mut bridge = Bridge::with(&folder.config(&server, ""));
    server.then(Reply::Whole(JSON, tools(&json!([hinted("echo", "task.read", &json!({"const": "web"}))]))));
    bridge.call(1);
    bridge.call(2);
    let methods: Vec<Value> = server.seen().iter().map(|seen| seen.json()["method"].clone()).collect();
    assert_eq!(methods, ["tools/list", "tools/call", "tools/call"]);
}

/// Two servers and three credentials: two for the first, one for the second.
fn two(folder: &Folder, first: &Server, second: &Server) -> std::path::PathBuf {
    folder.write("web.tenuo", &stack("task.read", "web"));
    folder.write("shop.tenuo", &stack("task.read", "shop"));
    folder.write("other.tenuo", &stack("log.read", "web"));
    let (one, two) = (first.url(), second.url());
    folder.write(
        "two.toml",
        &format!(
            r#"
key = "agent.key"
upstreams = [{{ url = "{one}" }}, {{ url = "{two}" }}]
credentials = [
    {{ upstreams = ["{one}"], format = "tenuo", file = "web.tenuo" }},
    {{ upstreams = ["{one}"], format = "tenuo", file = "shop.tenuo" }},
    {{ upstreams = ["{two}"], format = "tenuo", file = "other.tenuo" }},
]
"#
        ),
    );
    folder.path("two.toml")
}

#[test]
fn a_credential_is_chosen_by_action_and_project_and_never_leaves_its_servers() {
    let (first, second, folder) = (Server::start(), Server::start(), Folder::new());
    let mut bridge = Bridge::with(&two(&folder, &first, &second));
    let echo = hinted("echo", "task.read", &json!({"arg": "project"}));
    first.then(Reply::Whole(JSON, tools(&json!([echo]))));
    first.then(Reply::Whole(JSON, tools(&json!([echo]))));
    // The second server would like to have what the first one gets.
    let greedy = [echo.clone(), hinted("log", "task.read", &json!({"const": "shop"}))];
    second.then(Reply::Whole(JSON, tools(&json!(greedy))));
    let listed = bridge.ask(LIST);
    let names: Vec<&Value> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "log"], "each once: {listed}");
    let mut shop = call(1);
    shop["params"]["arguments"]["project"] = "shop".into();
    bridge.ask(&shop.to_string());
    bridge.call(2);
    let mut log = call(3);
    log["params"]["name"] = "log".into();
    bridge.ask(&log.to_string());
    let shown = |server: &Server, at: usize| server.seen()[at].meta()["tenuo"]["warrant"].clone();
    assert_eq!(shown(&first, 2), folder.read("shop.tenuo"));
    assert_eq!(shown(&first, 3), folder.read("web.tenuo"));
    assert_eq!(shown(&second, 1), folder.read("other.tenuo"), "a hint chooses among what is bound there");
    for seen in second.seen() {
        assert!(
            !seen.body.contains(&folder.read("web.tenuo")) && !seen.body.contains(&folder.read("shop.tenuo"))
        );
    }
}

#[test]
fn lists_of_several_pages_are_put_together_and_one_that_fails_is_left_out() {
    let (first, second, folder) = (Server::start(), Server::start(), Folder::new());
    let mut bridge = Bridge::with(&two(&folder, &first, &second));
    let page = |name: &str, next: &str| {
        let result = json!({"tools": [{"name": name, "inputSchema": {}}], "nextCursor": next});
        json!({"jsonrpc": "2.0", "id": "ID", "result": result}).to_string().replace("\"ID\"", "ID")
    };
    first.then(Reply::Whole(JSON, page("a", "2"))).then(Reply::Whole(JSON, tools(&json!([{"name": "b"}]))));
    first.then(Reply::Whole(JSON, tools(&json!([{"name": "c"}]))));
    second.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "method_not_open");
    let listed = bridge.ask(LIST);
    let names: Vec<&Value> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(first.seen()[1].json()["params"]["cursor"], "2");
    first.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "method_not_open");
    first.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "method_not_open");
    second.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "method_not_open");
    assert_eq!(bridge.ask(LIST)["error"]["data"]["reason"], "method_not_open");
}

#[test]
fn without_a_credential_that_covers_it_the_agent_is_told_what_is_missing() {
    let (first, second, folder) = (Server::start(), Server::start(), Folder::new());
    let mut bridge = Bridge::with(&two(&folder, &first, &second));
    let delete = hinted("echo", "task.delete", &json!({"const": "web"}));
    first.then(Reply::Whole(JSON, tools(&json!([delete]))));
    let answer = bridge.call(1);
    let structured = &answer["result"]["_meta"]["pact/refusal"];
    assert_eq!(structured["error"], "no_credential");
    let said = structured["message"].as_str().unwrap();
    assert!(said.contains("task.delete") && said.contains("web"), "{said}");
    assert!(first.seen().iter().all(|seen| seen.json()["method"] == "tools/list"));
}

#[test]
fn a_credential_that_is_replaced_is_used_from_the_next_call_on() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    bridge.call(1);
    folder.write("next", &stack("echo", "web"));
    std::fs::rename(folder.path("next"), folder.path("agent.tenuo")).unwrap();
    bridge.call(2);
    assert_eq!(server.seen()[1].meta()["tenuo"]["warrant"], folder.read("agent.tenuo"));
    std::fs::remove_file(folder.path("agent.tenuo")).unwrap();
    assert_eq!(bridge.call(3)["result"]["content"][0]["text"], "done", "what is held serves while it lives");
}

#[test]
fn no_secret_is_ever_logged() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    bridge.call(1);
    server.refuses("401 Unauthorized\r\nContent-Type: application/json", 401, "tenuo_expired");
    bridge.call(2);
    folder.write("agent.tenuo", "broken");
    bridge.call(3);
    let bodies = server.seen();
    let signature = bodies[0].meta()["tenuo"]["signature"].as_str().unwrap().to_owned();
    let (_, errors) = bridge.end();
    assert!(errors.contains("tenuo_expired"), "{errors}");
    for secret in [stack("echo", "web").as_str(), &signature, folder.read("agent.key").trim()] {
        assert!(!errors.contains(&secret[..20]), "{errors}");
    }
}
