//! A server in a process of its own.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::world::Failure;

/// A running `hosted` process; it ends with this value.
pub struct Hosted {
    child: Child,
    /// Where it takes traffic.
    pub address: SocketAddr,
    /// Where its admin port is; the same where it has none.
    pub admin: SocketAddr,
}

impl Hosted {
    /// Starts `program` with these arguments and waits for the line with its addresses.
    pub fn start(program: &Path, arguments: &[&str]) -> Result<Hosted, Failure> {
        // It ends when its standard input does, so that none is left behind, however this program ends.
        let mut child = Command::new(program)
            .args(arguments)
            .env("RUST_LOG", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no standard output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let mut addresses = line.split_whitespace().map(str::parse::<SocketAddr>);
        let address = addresses.next().ok_or_else(|| format!("{arguments:?} did not start"))??;
        let admin = addresses.next().transpose()?.unwrap_or(address);
        Ok(Hosted { child, address, admin })
    }

    /// Its resident memory, in MiB.
    pub fn resident(&self) -> Result<f64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kib: u32 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(f64::from(kib) / 1024.0)
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
