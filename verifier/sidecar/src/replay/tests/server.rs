//! The real server, in a folder of its own, on a port of this machine that was free.

use std::{
    io::{BufReader, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::{
    super::resp::{self, Reply},
    until,
};

pub(super) struct Server {
    pub(super) port: u16,
    folder: TempDir,
    child: Child,
    options: Vec<String>,
}

impl Server {
    /// One that keeps nothing on disk.
    pub(super) fn start() -> Server {
        Server::with(&["--save", ""])
    }

    pub(super) fn with(options: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = spawn(port, &folder, &options);
        let server = Server { port, folder, child, options };
        server.until_up();
        server
    }

    fn until_up(&self) {
        until("up", || matches!(self.try_ask(&["PING"]), Some(Reply::Text(_) | Reply::Error(_))));
    }

    /// What it says; an error is a failed test.
    pub(super) fn ask(&self, command: &[&str]) -> Reply {
        match self.try_ask(command).unwrap() {
            Reply::Error(text) => panic!("{command:?}: {}", String::from_utf8_lossy(&text)),
            reply => reply,
        }
    }

    fn try_ask(&self, command: &[&str]) -> Option<Reply> {
        let parts: Vec<&[u8]> = command.iter().map(|part| part.as_bytes()).collect();
        self.try_ask_bytes(&parts)
    }

    pub(super) fn try_ask_bytes(&self, parts: &[&[u8]]) -> Option<Reply> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.write_all(&resp::command(parts)).ok()?;
        resp::read(&mut BufReader::new(stream)).ok()
    }

    /// What it says to its first user.
    pub(super) fn as_default(&self, password: &str, parts: &[&[u8]]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let login = resp::command(&[b"AUTH", password.as_bytes()]);
        stream.write_all(&[login, resp::command(parts)].concat()).unwrap();
        let mut from = BufReader::new(stream);
        assert_eq!(resp::read(&mut from).unwrap(), Reply::Text(b"OK".into()));
        resp::read(&mut from).unwrap()
    }

    /// As when the machine takes its memory back: no word of farewell.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts again what was ended, on what it left on disk.
    pub(super) fn start_again(&mut self) {
        self.child = spawn(self.port, &self.folder, &self.options);
        self.until_up();
    }

    /// An orderly end and a new start.
    pub(super) fn restart(&mut self) {
        let _ = self.try_ask(&["SHUTDOWN"]);
        self.child.wait().unwrap();
        self.start_again();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Without the program the test fails: that it ran is what it says.
fn spawn(port: u16, folder: &TempDir, options: &[String]) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"])
        .arg(folder.path())
        .args(options)
        .stdout(Stdio::null())
        .spawn()
        .expect("this test needs redis-server (the Debian package of that name)")
}
