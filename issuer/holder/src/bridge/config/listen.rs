//! `[listen]`: where local clients reach the bridge over HTTP.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use pact_verifier::strict::StrictTable;

use super::ConfigError;

/// Where, and who may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListenConfig {
    pub(crate) place: Place,
    /// Where the secret is kept from one start to the next.
    pub(crate) secret_file: Option<PathBuf>,
    /// The web pages that may call, as browsers name them.
    pub(crate) allowed_origins: Vec<String>,
}

/// A place that only this machine's processes reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A loopback address; whoever knows the secret may call.
    Address(SocketAddr),
    /// A socket in the file system, for its owner alone.
    Socket(PathBuf),
}

/// Why a place is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPlace {
    /// Other machines would reach it.
    #[error(
        "the bridge signs for whoever reaches it, so it listens on a loopback address (127.0.0.1 or [::1]) alone"
    )]
    NotLoopback,
    /// Neither form.
    #[error(
        "a place to listen is an IP address with a port, such as 127.0.0.1:7777, or the path of a socket, with a '/' in it"
    )]
    Neither,
}

impl ListenConfig {
    /// There, with a new secret at each start, and no web page.
    pub(super) fn at(place: Place) -> ListenConfig {
        ListenConfig { place, secret_file: None, allowed_origins: Vec::new() }
    }
}

impl Place {
    /// An address, or a path with a `/`.
    pub(super) fn parse(text: &str) -> Result<Place, NotAPlace> {
        if text.contains('/') { Ok(Place::Socket(text.into())) } else { Place::address(text) }
    }

    fn address(text: &str) -> Result<Place, NotAPlace> {
        let address: SocketAddr = text.parse().map_err(|_| NotAPlace::Neither)?;
        if address.ip().is_loopback() { Ok(Place::Address(address)) } else { Err(NotAPlace::NotLoopback) }
    }
}

pub(super) fn read(mut table: StrictTable, folder: &Path) -> Result<ListenConfig, ConfigError> {
    let (address, socket) = (table.text("address")?, table.text("socket")?);
    let secret_file = table.text("secret_file")?.map(|file| folder.join(file));
    let allowed_origins = table.texts("allowed_origins")?;
    if !allowed_origins.iter().all(|origin| is_origin(origin)) {
        return Err(table.wrong("allowed_origins", ORIGINS).into());
    }
    if secret_file.is_some() && socket.is_some() {
        return Err(table.wrong("secret_file", NO_SECRET).into());
    }
    let key = table.path_of("address");
    // Before anything is called missing: a slip of the hand stands in its place.
    table.finish()?;
    let place = match (address, socket) {
        (Some(address), None) => {
            Place::address(&address).map_err(|fault| ConfigError::Place { key, fault })?
        }
        (None, Some(socket)) => Place::Socket(folder.join(socket)),
        _ => return Err(ConfigError::NoPlace),
    };
    Ok(ListenConfig { place, secret_file, allowed_origins })
}

/// Scheme, host and port, as RFC 6454 has browsers write them. There is no word for every page.
fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(plain))
}

const NO_SECRET: &str = "beside an `address`: a socket is guarded by its mode";
const ORIGINS: &str = "a list of origins, each an origin such as http://localhost:6274";
