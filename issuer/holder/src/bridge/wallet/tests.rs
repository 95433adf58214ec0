use std::{fs, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use pact_mandate::Action;
use tenuo::{ConstraintSet, Exact, SigningKey, Warrant, wire};

use super::*;
use crate::bridge::config::SourceConfig;

const HERE: &str = "https://tools.example.org/mcp";
const THERE: &str = "https://other.example.org/mcp";

fn stack(tool: &str, project: &str, seconds: u64) -> String {
    let key = SigningKey::from_bytes(&[1; 32]);
    let mut constraints = ConstraintSet::new();
    constraints.insert("project", Exact::new(project));
    let warrant = Warrant::builder()
        .capability(tool, constraints)
        .holder(key.public_key())
        .ttl(Duration::from_secs(seconds))
        .build(&key)
        .unwrap();
    STANDARD.encode(wire::encode_stack(&wire::WarrantStack(vec![warrant])).unwrap())
}

fn config(source: SourceConfig, to: &[&str], actions: &[&str]) -> CredentialConfig {
    CredentialConfig {
        format: Format::Tenuo,
        source,
        upstreams: to.iter().map(|url| url.parse().unwrap()).collect(),
        actions: actions.iter().map(|action| action.parse::<Action>().unwrap()).collect(),
        projects: Vec::new(),
    }
}

fn wallet(configs: &[CredentialConfig]) -> Wallet {
    Wallet::new(configs, &Arc::new(Holder::from_seed(&[7; 32]).unwrap())).unwrap()
}

fn file(folder: &Path, name: &str, text: &str) -> SourceConfig {
    fs::write(folder.join(name), text).unwrap();
    SourceConfig::File(folder.join(name))
}

fn at(seconds: u64) -> Now {
    let started =
        UnixTime::from_rfc3339(&pact_mandate::UnixTime::try_from(wall()).unwrap().to_string()).unwrap();
    Now::new(started.plus(seconds), Monotonic::from_origin(Duration::from_secs(seconds)))
}

#[expect(clippy::disallowed_methods, reason = "the Tenuo crate dates by the machine's own clock")]
fn wall() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

fn wanted(action: &str, project: &str) -> Wanted {
    Wanted { action: action.parse().unwrap(), project: Some(project.parse().unwrap()) }
}

async fn picked(wallet: &Wallet, to: &str, action: &str, project: &str) -> Result<String, &'static str> {
    let (to, wanted) = (to.parse().unwrap(), wanted(action, project));
    let picked = wallet.pick(&to, &wanted, at(0)).await;
    picked.map(|(credential, _)| credential.text().to_owned()).map_err(|fault| fault.code())
}

#[tokio::test]
async fn the_credential_is_chosen_by_server_action_and_project() {
    let folder = tempfile::tempdir().unwrap();
    let [web, shop, other] =
        [stack("task.read", "web", 600), stack("task.read", "shop", 600), stack("task.read", "web", 600)];
    let wallet = wallet(&[
        config(file(folder.path(), "other", &other), &[THERE], &[]),
        config(file(folder.path(), "web", &web), &[HERE], &[]),
        config(file(folder.path(), "shop", &shop), &[HERE], &[]),
    ]);
    assert_eq!(picked(&wallet, HERE, "task.read", "web").await, Ok(web.clone()));
    assert_eq!(picked(&wallet, HERE, "task.read", "shop").await, Ok(shop));
    assert_eq!(
        picked(&wallet, HERE, "task.read", "third").await,
        Ok(web),
        "the sidecar says what is missing"
    );
    assert_eq!(picked(&wallet, HERE, "task.work", "web").await, Err("no_credential"));
    assert_eq!(picked(&wallet, THERE, "task.work", "web").await, Ok(other), "a single one is tried");
    assert_eq!(picked(&wallet, "https://third.example.org/", "task.read", "web").await, Err("no_credential"));
}

#[tokio::test]
async fn a_file_is_read_again_when_it_changes_and_what_is_held_serves_while_it_lives() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (stack("task.read", "web", 600), stack("task.read", "web", 900));
    let wallet = wallet(&[config(file(folder.path(), "c", &first), &[HERE], &[])]);
    let pocket = &wallet.pockets[0];
    assert_eq!(pocket.current(at(0)).await.unwrap().text(), first);
    fs::write(folder.path().join("c"), "not a credential *").unwrap();
    assert_eq!(pocket.current(at(1)).await.unwrap().text(), first);
    fs::write(folder.path().join("c"), format!("{second}\n")).unwrap();
    assert_eq!(pocket.current(at(2)).await.unwrap().text(), second, "a changed file is read at once");
    fs::remove_file(folder.path().join("c")).unwrap();
    assert_eq!(pocket.current(at(100)).await.unwrap().text(), second);
    assert!(pocket.current(at(1000)).await.is_err(), "what ended is not used");
}

#[tokio::test]
async fn a_command_is_asked_again_before_the_end_and_when_a_sidecar_refuses_what_it_gave() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (stack("task.read", "web", 600), stack("task.read", "web", 900));
    fs::write(folder.path().join("c"), &first).unwrap();
    let cat = SourceConfig::Command(vec!["cat".into(), folder.path().join("c").display().to_string()]);
    let wallet = wallet(&[config(cat, &[HERE], &[])]);
    let pocket = &wallet.pockets[0];
    let held = pocket.current(at(0)).await.unwrap();
    fs::write(folder.path().join("c"), &second).unwrap();
    assert_eq!(pocket.current(at(500)).await.unwrap().text(), first, "its end is not near");
    assert_eq!(pocket.current(at(545)).await.unwrap().text(), second);
    fs::write(folder.path().join("c"), &first).unwrap();
    pocket.spend(&held).await;
    assert_eq!(pocket.current(at(546)).await.unwrap().text(), second, "that was another one");
    let held = pocket.current(at(546)).await.unwrap();
    pocket.spend(&held).await;
    assert_eq!(pocket.current(at(547)).await.unwrap().text(), first);
}
