//! A second opinion on where each request begins and ends (RFC 9112), stricter than the HTTP server's own: lines end in CRLF,
//! a body has one length, written in one way, and a target has no fragment. Whatever somebody in front of us could have read
//! in another way is refused, and the connection is not read on. Bodies are counted, never looked at.

#[cfg(test)]
mod tests;

/// Reads along with the HTTP server, byte for byte.
#[derive(Debug)]
pub(crate) struct Framing {
    part: Part,
    /// Of the line that has not ended yet.
    line: Vec<u8>,
    longest_line: usize,
    length: Option<u64>,
    is_chunked: bool,
}

/// Framing that could be read in two ways, or that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// At which of the bytes that were taken last.
    pub(crate) at: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    RequestLine,
    Header,
    /// So many bytes of a body with a length.
    Body(u64),
    ChunkSize,
    /// So many bytes of a chunk.
    Chunk(u64),
    ChunkEnd,
    Trailer,
}

impl Framing {
    /// At the beginning of a connection.
    pub(crate) fn new(longest_line: usize) -> Framing {
        Framing { part: Part::RequestLine, line: Vec::new(), longest_line, length: None, is_chunked: false }
    }

    /// Takes the next bytes, as many as there are.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len().saturating_sub(rest.len());
            rest = match self.part {
                Part::Body(left) => self.count(left, rest, Part::Body, Part::RequestLine),
                Part::Chunk(left) => self.count(left, rest, Part::Chunk, Part::ChunkEnd),
                _ => self.read_line(rest).map_err(|read| Broken { at: at.saturating_add(read) })?,
            };
        }
        Ok(())
    }

    fn count<'a>(&mut self, left: u64, rest: &'a [u8], part: fn(u64) -> Part, then: Part) -> &'a [u8] {
        let most = usize::try_from(left).unwrap_or(usize::MAX);
        let (_, after) = rest.split_at_checked(most).unwrap_or((rest, &[]));
        let counted = u64::try_from(rest.len().saturating_sub(after.len())).unwrap_or(left);
        let left = left.saturating_sub(counted);
        self.part = if left == 0 { then } else { part(left) };
        after
    }

    /// Reads to the end of the line, or as far as there is something. A fault is told by how many bytes went before it.
    fn read_line<'a>(&mut self, rest: &'a [u8]) -> Result<&'a [u8], usize> {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, &[]));
        if self.line.len().saturating_add(line.len()) > self.longest_line {
            return Err(0);
        }
        self.line.extend_from_slice(line);
        let Some((_, after)) = after.split_first() else { return Ok(after) };
        let line = std::mem::take(&mut self.line);
        let next = self.line_ended(&line).ok_or(end.unwrap_or_default())?;
        self.part = next;
        // The room is kept for the next one.
        self.line = line;
        self.line.clear();
        Ok(after)
    }

    /// What comes after a line, which is here without its line feed; `None` when it will not do.
    fn line_ended(&mut self, line: &[u8]) -> Option<Part> {
        let line = line.strip_suffix(b"\r")?;
        if line.contains(&b'\r') {
            return None;
        }
        match self.part {
            // Some readers drop a fragment and some do not; a request has none.
            Part::RequestLine => (!line.is_empty() && !line.contains(&b'#')).then(|| self.head_begins()),
            Part::Header if line.is_empty() => self.head_ended(),
            Part::Header => self.header(line).then_some(Part::Header),
            Part::ChunkSize => chunk_size(line),
            Part::ChunkEnd => line.is_empty().then_some(Part::ChunkSize),
            Part::Trailer if line.is_empty() => Some(Part::RequestLine),
            Part::Trailer => Some(Part::Trailer),
            Part::Body(_) | Part::Chunk(_) => None,
        }
    }

    fn head_begins(&mut self) -> Part {
        (self.length, self.is_chunked) = (None, false);
        Part::Header
    }

    /// Takes note of how long the body is; whether that is said once and in one way.
    fn header(&mut self, line: &[u8]) -> bool {
        // RFC 9112 5.2: a line that goes on in the next one.
        if line.first().is_some_and(u8::is_ascii_whitespace) {
            return false;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value, 10);
            let is_first = self.length.is_none();
            self.length = length;
            return is_first && length.is_some();
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let is_first = !self.is_chunked;
            self.is_chunked = true;
            return is_first && value.eq_ignore_ascii_case(b"chunked");
        }
        true
    }

    fn head_ended(&self) -> Option<Part> {
        match (self.length, self.is_chunked) {
            // RFC 9112 6.1: somebody is being deceived.
            (Some(_), true) => None,
            (None, true) => Some(Part::ChunkSize),
            (None | Some(0), false) => Some(Part::RequestLine),
            (Some(length), false) => Some(Part::Body(length)),
        }
    }
}

/// RFC 9112 7.1: hexadecimal digits, then perhaps extensions, which nobody reads.
fn chunk_size(line: &[u8]) -> Option<Part> {
    let digits = line.split(|byte| *byte == b';').next()?;
    match number(digits, 16)? {
        0 => Some(Part::Trailer),
        size => Some(Part::Chunk(size)),
    }
}

/// Digits and nothing else: no sign, no prefix, no space.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    if !digits.iter().all(|digit| char::from(*digit).is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(str::from_utf8(digits).ok()?, radix).ok()
}
