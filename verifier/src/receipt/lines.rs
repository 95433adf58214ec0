//! Lines of a file, one at a time and each of bounded length.

use std::io::{self, BufRead, Read};

use pact_mandate::limits::MAX_LOG_LINE_BYTES;

/// Reads lines.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    line: Vec<u8>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line, without its newline. One that is too long comes cut, and longer than any line may be.
    Whole(&'a [u8]),
    /// So many bytes that no newline ends: the last ones.
    Torn(u64),
    /// Nothing more.
    End,
}

impl<R: BufRead> Lines<R> {
    /// Of what `from` yields.
    pub fn new(from: R) -> Lines<R> {
        Lines { from, line: Vec::new() }
    }

    /// The next one.
    #[expect(clippy::should_implement_trait, reason = "a line is lent, not given")]
    pub fn next(&mut self) -> io::Result<Line<'_>> {
        // One byte more than a line and its newline shows that there is more.
        let most = u64::try_from(MAX_LOG_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(2);
        self.line.clear();
        let read = self.from.by_ref().take(most).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(Line::End);
        }
        match self.line.strip_suffix(b"\n") {
            Some(line) => Ok(Line::Whole(line)),
            None if self.line.len() > MAX_LOG_LINE_BYTES => Ok(Line::Whole(&self.line)),
            None => Ok(Line::Torn(u64::try_from(read).unwrap_or(u64::MAX))),
        }
    }
}
