//! An event stream (HTML standard, 9.2.6), read along while it passes. An event takes effect by the blank line behind it, so
//! it is judged before the last byte of that line goes out, and no other byte has to wait.

use super::skim::{Kind, Skim};

/// Bytes of a field's name or of an event's type that are kept: more than any that counts has.
const MAX_WORD: usize = 8;
/// What may stand before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An event that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// How many of the bytes that were given went by up to its end; the last of them is what ends it.
    pub(crate) end: usize,
    pub(crate) said: Said,
}

/// What an event says to a client of MCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Message(Kind),
    /// What two readers could take for different messages.
    Malformed,
    /// Nothing that such a client reads.
    Nothing,
}

/// Reads one stream.
#[derive(Debug, Default)]
pub(crate) struct Events {
    part: Part,
    /// Of the present line.
    word: Vec<u8>,
    /// Of the present event: its type, and what its data is.
    kind: Vec<u8>,
    data: Skim,
    has_data: bool,
    /// Whether the present event has any line.
    begun: bool,
    after_return: bool,
    /// Bytes of a byte order mark that the stream begins with; `None` once it has begun otherwise.
    mark: Mark,
}

#[derive(Debug)]
struct Mark(Option<usize>);

impl Default for Mark {
    fn default() -> Mark {
        Mark(Some(0))
    }
}

/// Where in a line the stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Start,
    Name,
    /// Just behind the colon, where one space does not count.
    Space(Field),
    Value(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Type,
    Other,
}

impl Events {
    /// Reads on until an event ends.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<Event> {
        let mut rest = bytes;
        loop {
            rest = self.value(rest);
            let (byte, after) = rest.split_first()?;
            rest = after;
            if let Some(said) = self.byte(*byte) {
                return Some(Event { end: bytes.len().saturating_sub(rest.len()), said });
            }
        }
    }

    /// Reads a value to the end of its line, or as far as there is something, at once. What follows is handed back.
    fn value<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Part::Value(field) = self.part else { return bytes };
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(bytes.len());
        let (value, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        self.value_bytes(field, value);
        rest
    }

    /// Whether the stream stands between two events.
    pub(crate) fn is_between(&self) -> bool {
        self.part == Part::Start && !self.begun
    }

    /// The last byte that was read does not go out: the event that it ended stays open.
    pub(crate) fn hold_back(&mut self) {
        self.begun = true;
    }

    /// One event more. An event that was cut is closed under a type that no client of MCP listens to, so that its half is
    /// not taken for a message.
    pub(crate) fn last_event(&self, message: &str) -> String {
        let close = match (self.part, self.begun) {
            (Part::Start, false) => "",
            // A line feed here would end the event.
            (Part::Start, true) => "event: cut\n\n",
            _ => "\nevent: cut\n\n",
        };
        format!("{close}event: message\ndata: {message}\n\n")
    }

    /// What an event that ends by this byte says.
    fn byte(&mut self, byte: u8) -> Option<Said> {
        if self.is_mark(byte) {
            return None;
        }
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if after_return => None,
            b'\n' | b'\r' if self.part == Part::Start => self.end_event(),
            b'\n' | b'\r' => {
                self.end_line();
                None
            }
            _ => {
                self.line_byte(byte);
                None
            }
        }
    }

    fn is_mark(&mut self, byte: u8) -> bool {
        let Some(seen) = self.mark.0 else { return false };
        let goes_on = BYTE_ORDER_MARK.get(seen) == Some(&byte);
        self.mark.0 = goes_on.then_some(seen + 1);
        goes_on
    }

    fn line_byte(&mut self, byte: u8) {
        match self.part {
            Part::Start | Part::Name if byte == b':' => {
                self.begun = true;
                self.part = Part::Space(self.begin_value());
            }
            Part::Start => {
                self.begun = true;
                self.word.clear();
                self.word.push(byte);
                self.part = Part::Name;
            }
            Part::Name => push(&mut self.word, byte),
            Part::Space(field) => {
                self.part = Part::Value(field);
                if byte != b' ' {
                    self.value_bytes(field, &[byte]);
                }
            }
            Part::Value(field) => self.value_bytes(field, &[byte]),
        }
    }

    /// The line's field, which begins anew.
    fn begin_value(&mut self) -> Field {
        let is_comment = self.part == Part::Start;
        match self.word.as_slice() {
            _ if is_comment => Field::Other,
            b"data" => {
                if !std::mem::replace(&mut self.has_data, true) {
                    self.data.reset();
                }
                // Two lines of data are joined by a line feed.
                self.data.take(b"\n");
                Field::Data
            }
            b"event" => {
                self.kind.clear();
                Field::Type
            }
            _ => Field::Other,
        }
    }

    fn value_bytes(&mut self, field: Field, bytes: &[u8]) {
        match field {
            Field::Data => {
                self.data.take(bytes);
            }
            Field::Type => bytes.iter().for_each(|byte| push(&mut self.kind, *byte)),
            Field::Other => {}
        }
    }

    fn end_line(&mut self) {
        if self.part == Part::Name {
            // A name without a colon is a field without a value.
            self.begin_value();
        }
        self.part = Part::Start;
    }

    fn end_event(&mut self) -> Option<Said> {
        let begun = std::mem::replace(&mut self.begun, false);
        let has_data = std::mem::replace(&mut self.has_data, false);
        let is_read = matches!(self.kind.as_slice(), b"" | b"message");
        self.kind.clear();
        if !begun {
            return None;
        }
        Some(match (has_data && is_read).then(|| self.data.finish()) {
            Some(Ok(Some(kind))) => Said::Message(kind),
            Some(Err(_)) => Said::Malformed,
            Some(Ok(None)) | None => Said::Nothing,
        })
    }
}

/// Keeps a word up to where no word that counts goes on.
fn push(word: &mut Vec<u8>, byte: u8) {
    if word.len() < MAX_WORD {
        word.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(parts: &[&str]) -> String {
        let mut events = Events::default();
        for part in parts {
            let mut rest = part.as_bytes();
            while let Some(event) = events.take(rest) {
                rest = &rest[event.end..];
            }
        }
        events.last_event("{}")
    }

    #[test]
    fn r9_the_last_event_never_joins_a_cut_one() {
        let plain = "event: message\ndata: {}\n\n";
        for whole in [
            &[][..],
            &["data: 1\n\n"],
            &["data: 1\r\n\r\n"],
            &["data: 1\r\r"],
            &["data: 1\n", "\n"],
            &["data: 1\r\n\r", "\n"],
            &[":\n\n"],
            &["\n\n"],
        ] {
            assert_eq!(after(whole), plain, "{whole:?}");
        }
        for cut in [&["data: 1"][..], &["\n\nd"], &[":"], &["data: 1\ndata"]] {
            assert_eq!(after(cut), format!("\nevent: cut\n\n{plain}"), "{cut:?}");
        }
        // At the start of a line one more line feed would be the blank line that gives the event its effect.
        for cut in [&["data: 1\n"][..], &["data: 1\r\n"], &["data: 1\r"]] {
            assert_eq!(after(cut), format!("event: cut\n\n{plain}"), "{cut:?}");
        }
    }

    fn read(text: &str, step: usize) -> Vec<Said> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for part in text.as_bytes().chunks(step) {
            let mut rest = part;
            while let Some(event) = events.take(rest) {
                found.push(event.said);
                rest = &rest[event.end..];
            }
        }
        found
    }

    #[test]
    fn messages_are_noticed_however_the_stream_is_written() {
        let request = || Kind::Request(crate::mcp::RpcId::Text("q".to_owned()));
        let json = r#"{"id":"q","method":"x"}"#;
        for text in [
            format!("data: {json}\n\n"),
            format!("data:{json}\r\n\r\n"),
            format!("data: {json}\r\r"),
            format!("\u{feff}data: {json}\n\n"),
            format!(": hello\nid: 7\nevent: message\ndata: {json}\nretry: 5\n\n"),
            "data: {\"id\":\"q\",\ndata: \"method\":\"x\"}\n\n".to_owned(),
            format!("event: other\nevent:message\ndata:{json}\n\n"),
            format!("event: other\nevent\ndata:{json}\n\n"),
        ] {
            for step in [1, 2, 3, 1000] {
                assert_eq!(read(&text, step), [Said::Message(request())], "{text:?}");
            }
        }
        for text in [
            format!("event: endpoint\ndata: {json}\n\n"),
            format!("event: messages\ndata: {json}\n\n"),
            "id: 1\ndata: \n\n".to_owned(),
            "data\n\n".to_owned(),
            ": keep\n\n".to_owned(),
            format!("Data: {json}\n\n"),
            format!("data : {json}\n\n"),
        ] {
            assert_eq!(read(&text, 1000), [Said::Nothing], "{text:?}");
        }
        assert_eq!(read(&format!("data: {json}\ndata: {json}\n\n"), 4), [Said::Malformed]);
        assert_eq!(read("\n\n\n", 1), []);
    }

    proptest! {
        #[test]
        fn every_stream_is_read_the_same_in_whatever_parts_it_comes(text in "[ade:t \\n\\r{}\"x,1]{0,60}", step in 1usize..9) {
            prop_assert_eq!(read(&text, step), read(&text, 1000));
        }
    }
}
