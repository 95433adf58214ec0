//! What a process writes to its standard error: into the log, under a target of its own, so much and no more.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{io::BufReader, process::ChildStderr};

use super::lines::{Line, Lines};
use crate::{
    clock::Clock,
    limits::{MAX_STDERR_LINE_BYTES, STDERR_LINES_PER_SECOND},
    sampler::Sampler,
};

/// The log of what every process complains of.
#[derive(Clone)]
pub(super) struct Complaints {
    sampler: Arc<Sampler>,
    clock: Clock,
}

/// The last line of one process, which most often says why it ended.
#[derive(Clone, Default)]
pub(super) struct LastLine(Arc<Mutex<String>>);

impl Complaints {
    pub(super) fn new(clock: Clock) -> Complaints {
        Complaints { sampler: Arc::new(Sampler::new(STDERR_LINES_PER_SECOND)), clock }
    }

    /// Reads to the end. A line that is too long is cut by leaving it out: what it would say is nothing for a log.
    pub(super) async fn follow(self, stderr: ChildStderr, last: LastLine) {
        let mut lines = Lines::new(BufReader::new(stderr), MAX_STDERR_LINE_BYTES);
        while let Ok(Some(line)) = lines.next().await {
            let text = match line {
                Line::Whole(text) => shown(&text),
                Line::TooLong(_) => format!("(a line of more than {MAX_STDERR_LINE_BYTES} bytes)"),
            };
            if text.is_empty() {
                continue;
            }
            if let Some(left_out) = self.sampler.admit(self.clock.now()) {
                tracing::info!(target: "tool_server", left_out, "{text}");
            }
            last.set(text);
        }
    }
}

impl LastLine {
    fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    pub(super) fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The text without what a terminal could take for an order.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.trim_end().chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_nothing_to_a_terminal() {
        assert_eq!(shown(b"a\x1b[2Jb\tc\xff\r"), "a\u{fffd}[2Jb\tc\u{fffd}");
    }
}
