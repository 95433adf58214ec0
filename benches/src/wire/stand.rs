//! All processes of one measuring: the tool server, the bare proxies, the issuer's list and sidecars.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use pact_mandate::Signer;

use super::{hosted::Hosted, list};
use crate::world::{AUDIENCE, Failure, POLICY, World, issuer_id};

/// More of a sidecar's configuration: a `[receipts]` table belongs here, once there is one.
const MORE: &str = "";
/// How often, and how many times, a sidecar is asked whether it is ready.
const ASKED: (Duration, usize) = (Duration::from_millis(100), 600);

/// What runs.
pub struct Stand<'a> {
    /// The tool server.
    pub tools: Hosted,
    /// The proxy that passes everything.
    pub pass: Hosted,
    /// The one that parses and verifies once for each call.
    pub one: Hosted,
    /// The one that parses and verifies five times.
    pub five: Hosted,
    world: &'a World,
    program: &'a Path,
    folder: PathBuf,
    list: SocketAddr,
}

impl<'a> Stand<'a> {
    /// Starts everything but sidecars. `program` is the `hosted` binary.
    pub fn start(world: &'a World, program: &'a Path, folder: &Path) -> Result<Stand<'a>, Failure> {
        let tools = Hosted::start(program, &["tools"])?;
        let to = tools.address.to_string();
        let proxy = |verifications| Hosted::start(program, &["proxy", to.as_str(), verifications]);
        Ok(Stand {
            pass: proxy("0")?,
            one: proxy("1")?,
            five: proxy("5")?,
            tools,
            world,
            program,
            folder: folder.to_owned(),
            list: list::serve(issuer_id()?, world.lister()?)?,
        })
    }

    /// Starts a sidecar with a state of its own and waits until it is ready.
    pub fn sidecar(&self, name: &str) -> Result<Hosted, Failure> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("policy.toml"),
            format!("{POLICY}{}", POLICY.replace("tools.work", "tools.watch")),
        )?;
        let config = folder.join("sidecar.toml");
        fs::write(&config, self.config()?)?;
        let config = config.to_str().ok_or("a path that is no text")?;
        let sidecar = Hosted::start(self.program, &["sidecar", config])?;
        for _ in 0..ASKED.1 {
            if is_ready(sidecar.admin)? {
                return Ok(sidecar);
            }
            thread::sleep(ASKED.0);
        }
        Err("the sidecar was not ready in a minute".into())
    }

    fn config(&self) -> Result<String, Failure> {
        let (root, lister) = (self.world.issuer_key(), self.world.lister()?);
        Ok(format!(
            r#"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
audience = "{AUDIENCE}"
policy = "policy.toml"
state_dir = "state"

[upstream]
url = "http://{}/mcp"

[[issuers]]
id = "{}"
roots = ["{root}"]
list_keys = ["{}"]
lists_url = "http://{}/list"

[issuers.speaks]
formats = ["tenuo"]
actions = ["task.*"]
projects = ["web"]

{MORE}
"#,
            self.tools.address,
            issuer_id()?,
            lister.public_key(),
            self.list,
        ))
    }
}

fn is_ready(admin: SocketAddr) -> Result<bool, Failure> {
    let mut stream = TcpStream::connect(admin)?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer.starts_with(b"HTTP/1.1 200 "))
}
