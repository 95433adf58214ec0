//! From a strict table to a configuration.

use std::{collections::BTreeMap, path::Path, time::Duration};

use pact_mandate::{Action, Format};
use pact_verifier::{
    Audience,
    strict::{ConfigFault, StrictTable},
};

use super::{
    Config, ConfigError, CredentialConfig, ReissueConfig, SourceConfig, UpstreamConfig, UpstreamUrl, listen,
};
use crate::{
    bridge::period,
    limits::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, IDLE_TIMEOUT, MAX_ENTRIES},
};

pub(super) fn config(mut table: StrictTable, folder: &Path) -> Result<Config, ConfigError> {
    let key = table.text("key")?;
    let listen = table.table("listen")?;
    let (upstreams, credentials) = (table.tables("upstreams")?, table.tables("credentials")?);
    // Before anything is called missing: a slip of the hand stands in its place.
    table.finish()?;
    let key = folder.join(key.ok_or_else(|| ConfigFault::Missing("key".to_owned()))?);
    let upstreams = upstreams.into_iter().map(upstream).collect::<Result<Vec<_>, _>>()?;
    count("upstreams", upstreams.len(), 1)?;
    for (at, upstream) in upstreams.iter().enumerate() {
        if upstreams.iter().skip(at + 1).any(|other| other.url == upstream.url) {
            return Err(ConfigError::RepeatedUpstream(upstream.url.to_string()));
        }
    }
    count("credentials", credentials.len(), 0)?;
    let credentials = credentials.into_iter().map(|table| credential(table, folder, &upstreams));
    let credentials = credentials.collect::<Result<_, _>>()?;
    let listen = listen.map(|table| listen::read(table, folder)).transpose()?;
    Ok(Config { key, upstreams, credentials, listen })
}

fn count(what: &'static str, found: usize, least: usize) -> Result<(), ConfigError> {
    if (least..=MAX_ENTRIES).contains(&found) {
        Ok(())
    } else {
        Err(ConfigError::Count { what, most: MAX_ENTRIES })
    }
}

fn upstream(mut table: StrictTable) -> Result<UpstreamConfig, ConfigError> {
    let text = table.needed_text("url")?;
    let url: UpstreamUrl =
        text.parse().map_err(|fault| ConfigError::Url { key: table.path_of("url"), fault })?;
    let audience: Audience = table
        .text("audience")?
        .unwrap_or(text)
        .parse()
        .map_err(|fault| ConfigError::Audience { key: table.path_of("audience"), fault })?;
    let actions = actions(&mut table)?;
    let config = UpstreamConfig {
        url,
        audience,
        actions,
        connect_timeout: period(&mut table, "connect_timeout", CONNECT_TIMEOUT)?,
        answer_timeout: period(&mut table, "answer_timeout", ANSWER_TIMEOUT)?,
        idle_timeout: period(&mut table, "idle_timeout", IDLE_TIMEOUT)?,
    };
    table.finish()?;
    Ok(config)
}

fn actions(table: &mut StrictTable) -> Result<BTreeMap<String, Action>, ConfigError> {
    let key = table.path_of("actions");
    let named = table.named("actions")?.into_iter().map(|(tool, value)| {
        let key = format!("{key}.{tool}");
        let text = value.as_str().ok_or(ConfigFault::Wrong { key: key.clone(), wanted: "an action" })?;
        let action = text.parse().map_err(|fault| ConfigError::Word { key, fault })?;
        Ok((tool, action))
    });
    named.collect()
}

fn period(table: &mut StrictTable, key: &'static str, default: Duration) -> Result<Duration, ConfigFault> {
    match table.text(key)? {
        None => Ok(default),
        Some(text) => {
            period::parse(&text).ok_or_else(|| table.wrong(key, "a period such as 250ms, 10s, 5m or 1h"))
        }
    }
}

fn credential(
    mut table: StrictTable,
    folder: &Path,
    upstreams: &[UpstreamConfig],
) -> Result<CredentialConfig, ConfigError> {
    let format = match table.needed_text("format")?.as_str() {
        "tenuo" => Format::Tenuo,
        "biscuit" => Format::Biscuit,
        _ => return Err(table.wrong("format", "tenuo or biscuit").into()),
    };
    let config = CredentialConfig {
        format,
        source: source(&mut table, folder)?,
        upstreams: bound(&mut table, upstreams)?,
        actions: words(&mut table, "actions")?,
        projects: words(&mut table, "projects")?,
    };
    if config.actions.is_empty() && !config.projects.is_empty() {
        return Err(table
            .wrong("projects", "actions beside it: projects without actions say nothing")
            .into());
    }
    table.finish()?;
    Ok(config)
}

fn source(table: &mut StrictTable, folder: &Path) -> Result<SourceConfig, ConfigError> {
    let (file, command, reissue) = (table.text("file")?, table.texts("command")?, table.text("reissue")?);
    match (file, command.is_empty(), reissue) {
        (Some(file), true, None) => Ok(SourceConfig::File(folder.join(file))),
        (None, false, None) => Ok(SourceConfig::Command(command)),
        (None, true, Some(url)) => Ok(SourceConfig::Issuer(reissuer(table, &url)?)),
        _ => Err(ConfigError::Source(table.path_of("file"))),
    }
}

fn reissuer(table: &mut StrictTable, url: &str) -> Result<ReissueConfig, ConfigError> {
    let (issuer, mandate) = (table.needed_text("issuer")?, table.needed_text("mandate")?);
    let id = |key| move |fault| ConfigError::Id { key, fault };
    Ok(ReissueConfig {
        url: url.parse().map_err(|fault| ConfigError::Url { key: table.path_of("reissue"), fault })?,
        issuer: issuer.parse().map_err(id(table.path_of("issuer")))?,
        mandate: mandate.parse().map_err(id(table.path_of("mandate")))?,
    })
}

/// A typing error would send a credential nowhere, and nobody would know why.
fn bound(table: &mut StrictTable, upstreams: &[UpstreamConfig]) -> Result<Vec<UpstreamUrl>, ConfigError> {
    let key = table.path_of("upstreams");
    let texts = table.texts("upstreams")?;
    count("credentials.upstreams", texts.len(), 1)?;
    let urls = texts.into_iter().map(|text| {
        let url: UpstreamUrl = text.parse().map_err(|fault| ConfigError::Url { key: key.clone(), fault })?;
        if upstreams.iter().any(|upstream| upstream.url == url) {
            Ok(url)
        } else {
            Err(ConfigError::UnknownUpstream { key: key.clone(), url: text })
        }
    });
    urls.collect()
}

fn words<T>(table: &mut StrictTable, key: &'static str) -> Result<Vec<T>, ConfigError>
where
    T: std::str::FromStr<Err = pact_mandate::scope::ScopeError>,
{
    let path = table.path_of(key);
    let words = table.texts(key)?.into_iter().map(|text| text.parse());
    words.collect::<Result<_, _>>().map_err(|fault| ConfigError::Word { key: path, fault })
}
