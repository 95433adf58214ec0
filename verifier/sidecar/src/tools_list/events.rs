//! The data of events in an event stream (WHATWG HTML, "Server-sent events"), as they come.

use bytes::Bytes;

/// What has come of the event that is not whole yet. Whoever feeds it bounds the stream.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl Events {
    /// The events that end in this part, each as its data.
    pub(super) fn take(&mut self, part: &[u8]) -> Vec<Bytes> {
        let mut events = Vec::new();
        for &byte in part {
            // A carriage return ends a line, with the line feed behind it or without.
            let second_half = std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(byte),
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<Bytes> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let has_data = std::mem::take(&mut self.has_data);
            // Without data an event only carries an id, from which a stream is taken up again (MCP 2025-11-25, transports).
            return (has_data && !data.is_empty()).then(|| data.into());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (line.get(..at), line.get(at + 1..)),
            None => (Some(line.as_slice()), None),
        };
        if field == Some(b"data") {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            let value = value.unwrap_or_default();
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(parts: &[&str]) -> Vec<String> {
        let mut events = Events::default();
        let found = parts.iter().flat_map(|part| events.take(part.as_bytes())).collect::<Vec<_>>();
        found.into_iter().map(|data| String::from_utf8(data.to_vec()).unwrap()).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut_and_ended() {
        for stream in [
            "data: a\n\n",
            "data:a\r\n\r\n",
            "data: a\r\r",
            ":x\nevent: message\nid: 1\ndata: a\n\n",
            "\n\ndata: a\n\n",
        ] {
            assert_eq!(read(&[stream]), ["a"], "{stream:?}");
            let bytes: Vec<String> = stream.chars().map(String::from).collect();
            assert_eq!(read(&bytes.iter().map(String::as_str).collect::<Vec<_>>()), ["a"], "{stream:?}");
        }
        assert_eq!(read(&["data: a\ndata: b\n\ndata\n\n"]), ["a\nb"]);
        assert_eq!(read(&["id: 7\ndata: \n\ndata: a\n\n"]), ["a"]);
        assert_eq!(read(&["Data: a\n\ndata: b"]), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn where_a_stream_is_cut_changes_nothing(stream in "(data: ?|a|\n|\r|:|id){0,24}", at in 0_usize..24) {
            let at = at.min(stream.len());
            prop_assert_eq!(read(&[&stream]), read(&[&stream[..at], &stream[at..]]));
        }
    }
}
