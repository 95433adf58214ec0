//! Server-sent events (HTML living standard, 9.2.6), as they come, with a bound.

use crate::limits::MAX_ANSWER_BYTES;

/// Takes chunks and gives the data of messages.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    any_data: bool,
    other_type: bool,
    after_return: bool,
}

/// An event that is longer than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventTooLong;

impl Events {
    /// Reads on, and returns the data of each event of the type `message` that ended in this chunk and is not empty.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>, EventTooLong> {
        let mut messages = Vec::new();
        for byte in chunk {
            let is_second_half = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            match byte {
                b'\n' if is_second_half => {}
                b'\n' | b'\r' => messages.extend(self.end_line()),
                byte => {
                    if self.line.len().saturating_add(self.data.len()) >= MAX_ANSWER_BYTES {
                        return Err(EventTooLong);
                    }
                    self.line.push(*byte);
                }
            }
        }
        Ok(messages)
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.any_data {
                    self.data.push(b'\n');
                }
                self.any_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.other_type = value != b"message" && !value.is_empty(),
            // Ids and periods are for clients that resume; comments keep the connection open.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Vec<u8>> {
        let data = std::mem::take(&mut self.data);
        let any_data = std::mem::take(&mut self.any_data);
        let other_type = std::mem::take(&mut self.other_type);
        (any_data && !other_type && !data.is_empty()).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": hello\n\nevent: message\ndata: {\"a\":\ndata:1}\nid: 7\n\nevent: cut\ndata: x\n\ndata\n\ndata: {}\r\n\r\ndata: []\r\rdata: lost";

    #[test]
    fn messages_are_the_data_of_whole_events() {
        let found = Events::default().feed(STREAM.as_bytes()).unwrap();
        assert_eq!(found, [b"{\"a\":\n1}".to_vec(), b"{}".to_vec(), b"[]".to_vec()]);
    }

    #[test]
    fn an_event_without_an_end_is_bounded() {
        let mut events = Events::default();
        let chunk = vec![b'x'; MAX_ANSWER_BYTES / 4];
        let results: Vec<_> = (0..5).map(|_| events.feed(&chunk).is_ok()).collect();
        assert_eq!(results, [true, true, true, true, false]);
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(cuts in proptest::collection::vec(0..STREAM.len(), 0..6)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let mut events = Events::default();
            let mut found = Vec::new();
            for pair in cuts.windows(2) {
                found.extend(events.feed(&STREAM.as_bytes()[pair[0]..pair[1]]).unwrap());
            }
            prop_assert_eq!(found, Events::default().feed(STREAM.as_bytes()).unwrap());
        }
    }
}
