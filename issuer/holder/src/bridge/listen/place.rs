//! Where to listen: a loopback address, or a socket in the file system that nobody but its owner may open, at no moment.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    net::SocketAddr,
    os::unix::{
        fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixStream as BlockingStream,
    },
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::Place;

/// Why the bridge does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address or the socket.
    #[error("{place}: {source}")]
    Bind {
        /// Where.
        place: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// Somebody listens there already, or it is no socket.
    #[error("{0} is there already, and is no socket that was left behind")]
    Occupied(PathBuf),
    /// The file of the secret.
    #[error(transparent)]
    File(#[from] pact_mandate::keyfile::KeyFileError),
    /// What stands in it.
    #[error(
        "the file of the local secret holds none: 22 to 256 letters, digits, '-' and '_', as random as they can be. Remove it, and \
         one is made"
    )]
    NotASecret,
    /// No secret could be made.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// What takes connections.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, SocketFile),
}

/// A connection.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The socket's file, which goes with its listener.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Listener {
    pub(super) async fn bind(place: &Place) -> Result<Listener, ListenError> {
        match place {
            Place::Address(address) => {
                let fault = |source| ListenError::Bind { place: address.to_string(), source };
                let listener = TcpListener::bind(address).await.map_err(fault)?;
                let address = listener.local_addr().map_err(fault)?;
                Ok(Listener::Tcp(listener, address))
            }
            Place::Socket(path) => {
                let (listener, file) = private_socket(path)?;
                Ok(Listener::Unix(listener, file))
            }
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener, _) => {
                let (stream, _) = listener.accept().await?;
                // Answers are written whole or event by event; waiting to fill a packet only delays them.
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Listener::Unix(listener, _) => Ok(Stream::Unix(listener.accept().await?.0)),
        }
    }

    /// The address; a socket has none.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(_, address) => Some(*address),
            Listener::Unix(..) => None,
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Listener::Tcp(_, address) => address.to_string(),
            Listener::Unix(_, file) => file.path.display().to_string(),
        }
    }
}

/// Made inside a folder that nobody else may enter, narrowed there, and then put into its place: between being made and having
/// its mode, a socket is open to whomever the process's mask lets in.
fn private_socket(path: &Path) -> Result<(UnixListener, SocketFile), ListenError> {
    let fault = |source| ListenError::Bind { place: path.display().to_string(), source };
    check_free(path)?;
    let mut name = [0; 6];
    getrandom::fill(&mut name)?;
    let folder = path.with_file_name(format!(".{}", URL_SAFE_NO_PAD.encode(name)));
    DirBuilder::new().mode(0o700).create(&folder).map_err(fault)?;
    let made = narrowed(&folder.join("s"), path);
    // Nothing is left in it, or nothing that anybody could use.
    let _ = fs::remove_dir_all(&folder);
    made.map_err(fault)
}

fn narrowed(inside: &Path, path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let listener = UnixListener::bind(inside)?;
    fs::set_permissions(inside, Permissions::from_mode(0o600))?;
    let inode = fs::symlink_metadata(inside)?.ino();
    fs::rename(inside, path)?;
    Ok((listener, SocketFile { path: path.to_owned(), inode }))
}

/// A socket that nobody listens at was left behind by a bridge that was killed. Anything else is somebody's.
fn check_free(path: &Path) -> Result<(), ListenError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    let refused =
        || BlockingStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if metadata.file_type().is_socket() && refused() {
        Ok(())
    } else {
        Err(ListenError::Occupied(path.to_owned()))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another bridge may have taken the place meanwhile.
        if fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
