//! The text of a suggested policy. Whatever a tool server calls its tools stands in it as a quoted name, and nowhere else.

use std::{collections::BTreeSet, fmt::Write};

use pact_mandate::{Action, Project, hex};

use super::{SeenTool, Style};
use crate::config::HttpUrl;

/// What mandates grant by default: reading, and everything else.
const READ: &str = "task.read";
const WORK: &str = "task.work";
/// What begins an action of a tool's own.
const OWN: &str = "tools.";

pub(super) fn policy(upstream: &HttpUrl, project: &Project, style: Style, tools: &[SeenTool]) -> String {
    let mut text = format!(
        "# A first policy for {upstream}, from what the server says of its tools. Read it before you use it.\n#\n"
    );
    text.push_str(if style.own_actions {
        "# Each tool has an action of its own.\n"
    } else {
        "# A tool that says it only reads (readOnlyHint) needs task.read, any other task.work. Nobody checks what it says.\n"
    });
    text.push_str(
        "# Every argument passes unjudged. Move those that matter: to project, args or rules (README, \"The policy file\").\n\n",
    );
    text.push_str("# Values for what credentials name and the tools have no argument for. Those of pact-issuer for Tenuo name a task.\n[limits]\ntask_id = \"\"\n# runs = 1\n# cost_usd = 0.01\n");
    let mut used = BTreeSet::new();
    let mut actions = Vec::new();
    for tool in tools.iter().filter(|tool| tool.can_be_named()) {
        let action = action(tool, style.own_actions, &mut used);
        table(&mut text, tool, &action, project);
        if style.definitions {
            line(&mut text, &format!("definition = \"{}\"", hex::encode(tool.definition.digest())));
        }
        actions.push(action);
    }
    let left_out = tools.iter().filter(|tool| !tool.can_be_named()).count();
    if left_out > 0 {
        line(
            &mut text,
            &format!(
                "\n# {left_out} tools are left out: their names or arguments are too long or too many to read."
            ),
        );
    }
    if style.own_actions {
        mint(&mut text, &actions, project);
    }
    text
}

/// The action of a tool, and with `own_actions` one that no other has.
fn action(tool: &SeenTool, own_actions: bool, used: &mut BTreeSet<String>) -> String {
    if !own_actions {
        return if tool.says_read_only { READ } else { WORK }.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let name: String = tool.name.chars().map(plain).collect();
    let first = format!("{OWN}{}", name.trim_matches('.'));
    let numbered = (2..).map(|number: u32| format!("{first}-{number}"));
    let mut candidates = std::iter::once(first.clone()).chain(numbered);
    let free = candidates.find(|action| action.parse::<Action>().is_ok() && !used.contains(action));
    let action = free.unwrap_or(first);
    used.insert(action.clone());
    action
}

fn table(text: &mut String, tool: &SeenTool, action: &str, project: &Project) {
    line(text, &format!("\n[tools.{}]\naction = {}", quoted(&tool.name), quoted(action)));
    line(text, &format!("project = {{ const = {} }}", quoted(project.as_str())));
    // P2: such a name is refused in every call.
    let (never, unjudged): (Vec<_>, Vec<_>) = tool.arguments.iter().partition(|name| name.starts_with('@'));
    if !unjudged.is_empty() {
        let names: Vec<String> = unjudged.into_iter().map(|name| quoted(name)).collect();
        line(text, &format!("unjudged = [{}]", names.join(", ")));
    }
    if !never.is_empty() {
        line(text, "# It has arguments that begin with '@'; calls with them are refused.");
    }
}

/// How a mandate for all of it is granted.
fn mint(text: &mut String, actions: &[String], project: &Project) {
    line(text, "\n# A mandate for all of them; leave out what an agent does not need:");
    let scope: Vec<String> =
        actions.iter().map(|action| format!("--scope '{action}@project:{project}'")).collect();
    line(
        text,
        &format!("#   pact-issuer mint --human NAME --holder AGENT \\\n#     {}", scope.join(" \\\n#     ")),
    );
}

fn line(text: &mut String, line: &str) {
    // Writing to a text does not fail.
    let _ = writeln!(text, "{line}");
}

/// A TOML basic string of one line, which is a key as well.
fn quoted(name: &str) -> String {
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            // Beside what TOML asks for: what turns the direction of a line, or ends one for some editors.
            c if c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}') =>
            {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
