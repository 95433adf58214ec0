//! One connection to the server: logged in, with our script loaded, bounded in time.

use std::{
    io::{self, BufReader, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use super::{
    fault::SharedFault,
    resp::{self, Reply},
    script::SCRIPT,
};
use crate::config::{PasswordFile, RedisConfig};

pub(super) struct Line {
    stream: TcpStream,
    /// By which the server knows our script.
    digest: Vec<u8>,
}

/// When patience ends.
#[derive(Clone, Copy)]
struct Deadline(Instant);

/// Reads from a stream until the deadline, however little comes at a time.
struct Patient<'a> {
    stream: &'a TcpStream,
    deadline: Deadline,
}

impl Line {
    /// Connects, logs in and loads the script. The password is read each time, so that a changed one takes no restart.
    pub(super) fn open(server: &RedisConfig) -> Result<Line, SharedFault> {
        let deadline = Deadline::after(server.timeout);
        let password = server.password.as_ref().map(PasswordFile::read).transpose();
        let password = password.map_err(|error| SharedFault::PasswordFile(error.kind()))?;
        let stream = connect(server, deadline)?;
        let mut line = Line { stream, digest: Vec::new() };
        let mut commands = Vec::new();
        if let Some(password) = &password {
            let user = server.url.user().map(str::as_bytes);
            let parts = [Some(b"AUTH".as_slice()), user, Some(password.as_bytes())];
            commands.push(resp::command(&parts.into_iter().flatten().collect::<Vec<_>>()));
        }
        commands.push(resp::command(&[b"SELECT", server.url.database().to_string().as_bytes()]));
        commands.push(resp::command(&[b"SCRIPT", b"LOAD", SCRIPT.as_bytes()]));
        let replies = line.exchange(&commands, deadline)?;
        for reply in replies {
            match reply {
                Reply::Error(text) => return Err(SharedFault::of_error(&text)),
                Reply::Text(text) => line.digest = text,
                _ => return Err(SharedFault::Garbage),
            }
        }
        if line.digest.len() == 40 { Ok(line) } else { Err(SharedFault::Garbage) }
    }

    pub(super) fn digest(&self) -> &[u8] {
        &self.digest
    }

    /// Sends all commands and reads as many answers, within so long altogether.
    pub(super) fn ask(&mut self, commands: &[Vec<u8>], within: Duration) -> Result<Vec<Reply>, SharedFault> {
        self.exchange(commands, Deadline::after(within))
    }

    fn exchange(&mut self, commands: &[Vec<u8>], deadline: Deadline) -> Result<Vec<Reply>, SharedFault> {
        let failed = |error: io::Error| SharedFault::of_io(&error);
        self.stream.set_write_timeout(Some(deadline.left()?)).map_err(failed)?;
        self.stream.write_all(&commands.concat()).map_err(failed)?;
        let mut from = BufReader::new(Patient { stream: &self.stream, deadline });
        let replies =
            commands.iter().map(|_| resp::read(&mut from)).collect::<io::Result<Vec<_>>>().map_err(failed)?;
        // Nobody asked for more.
        if from.buffer().is_empty() { Ok(replies) } else { Err(SharedFault::Garbage) }
    }
}

fn connect(server: &RedisConfig, deadline: Deadline) -> Result<TcpStream, SharedFault> {
    let unreachable = |error: io::Error| match error.kind() {
        io::ErrorKind::TimedOut => SharedFault::TimedOut,
        kind => SharedFault::Unreachable(kind),
    };
    let addresses = (server.url.host(), server.url.port()).to_socket_addrs().map_err(unreachable)?;
    let mut fault = SharedFault::Unreachable(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(&address, deadline.left()?) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(unreachable)?;
                return Ok(stream);
            }
            Err(error) => fault = unreachable(error),
        }
    }
    Err(fault)
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "a server loop: how long the other side may still take")]
    fn after(period: Duration) -> Deadline {
        Deadline(Instant::now() + period)
    }

    #[expect(clippy::disallowed_methods, reason = "a server loop: how long the other side may still take")]
    fn left(self) -> Result<Duration, SharedFault> {
        match self.0.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(SharedFault::TimedOut),
            left => Ok(left),
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.left().map_err(|_| io::ErrorKind::TimedOut)?;
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}
