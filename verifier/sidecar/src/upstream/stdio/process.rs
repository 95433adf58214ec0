//! One process and all that it starts: a group of their own, which ends as a whole.

use std::{
    io,
    process::{ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::{config::CommandConfig, limits::CHILD_GRACE};

/// What a process gets of the sidecar's own environment: where programs, its home and its temporary files are, who it runs
/// as, and how it writes text and time. Anything else may be a secret of the sidecar's.
const PASSED_ON: [&str; 11] =
    ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// The ends of its pipes that are ours.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// It runs. Dropped, it is killed with all that it started.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    /// Starts it, by no shell.
    pub(super) fn start(config: &CommandConfig) -> io::Result<(Process, Pipes)> {
        let mut command = Command::new(&config.program);
        command.args(&config.arguments).env_clear();
        command.envs(PASSED_ON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
        command.envs(config.env.iter().map(|(name, value)| (name, value.as_str())));
        if let Some(folder) = &config.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: a terminal's interrupt is for the sidecar, which ends it in its turn.
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Process { child, group };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((process, Pipes { stdin, stdout, stderr })),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits for its end. Left half-way, nothing is lost.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends it: its standard input is closed already, which is how MCP says it; whoever does not listen is told by signals.
    pub(super) async fn end(mut self) -> Option<ExitStatus> {
        for signal in [Signal::TERM, Signal::KILL] {
            if let Ok(status) = tokio::time::timeout(CHILD_GRACE, self.wait()).await {
                return status.ok();
            }
            self.signal(signal);
        }
        // Nothing outlives that but a process that hangs in the kernel.
        let status = tokio::time::timeout(CHILD_GRACE, self.wait()).await;
        status.ok().and_then(Result::ok)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // There may be nobody left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What it started and left behind. Its number is given to nobody else so soon: those go round.
        self.signal(Signal::KILL);
    }
}
