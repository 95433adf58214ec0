//! The configuration in effect, as it would be written.

use toml::{Table, Value};

use super::{Config, CredentialConfig, ListenConfig, Place, ReissueConfig, SourceConfig, UpstreamConfig};
use crate::bridge::period;

pub(super) fn toml(config: &Config) -> String {
    let mut table = Table::new();
    table.insert("key".into(), config.key.display().to_string().into());
    if let Some(listen) = &config.listen {
        table.insert("listen".into(), Value::Table(listen_table(listen)));
    }
    table.insert("upstreams".into(), Value::Array(config.upstreams.iter().map(upstream).collect()));
    table.insert("credentials".into(), Value::Array(config.credentials.iter().map(credential).collect()));
    // A table of texts always has a form.
    toml::to_string_pretty(&table).unwrap_or_default()
}

fn listen_table(config: &ListenConfig) -> Table {
    let mut table = Table::new();
    match &config.place {
        Place::Address(address) => table.insert("address".into(), address.to_string().into()),
        Place::Socket(path) => table.insert("socket".into(), path.display().to_string().into()),
    };
    if let Some(file) = &config.secret_file {
        table.insert("secret_file".into(), file.display().to_string().into());
    }
    table.insert("allowed_origins".into(), texts(&config.allowed_origins));
    table
}

fn upstream(config: &UpstreamConfig) -> Value {
    let mut table = Table::new();
    table.insert("url".into(), config.url.to_string().into());
    table.insert("audience".into(), config.audience.as_str().into());
    for (name, value) in [
        ("connect_timeout", config.connect_timeout),
        ("answer_timeout", config.answer_timeout),
        ("idle_timeout", config.idle_timeout),
    ] {
        table.insert(name.into(), period::text(value).into());
    }
    let actions = config.actions.iter().map(|(tool, action)| (tool.clone(), action.as_str().into()));
    table.insert("actions".into(), Value::Table(actions.collect()));
    Value::Table(table)
}

fn credential(config: &CredentialConfig) -> Value {
    let mut table = Table::new();
    table.insert("format".into(), config.format.name().into());
    match &config.source {
        SourceConfig::File(path) => table.insert("file".into(), path.display().to_string().into()),
        SourceConfig::Command(argv) => table.insert("command".into(), texts(argv)),
        SourceConfig::Issuer(ReissueConfig { url, issuer, mandate }) => {
            table.insert("issuer".into(), issuer.to_string().into());
            table.insert("mandate".into(), mandate.to_string().into());
            table.insert("reissue".into(), url.to_string().into())
        }
    };
    table.insert("upstreams".into(), texts(&config.upstreams));
    table.insert("actions".into(), texts(&config.actions));
    table.insert("projects".into(), texts(&config.projects));
    Value::Table(table)
}

fn texts(items: &[impl ToString]) -> Value {
    Value::Array(items.iter().map(|item| Value::String(item.to_string())).collect())
}
