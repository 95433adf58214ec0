//! One line, one message: read with a bound, so that no client makes the bridge hold more than that.

use std::io::{self, BufRead};

/// What stood on the next line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Its bytes, without the line feed.
    Bytes(Vec<u8>),
    /// More than the bound; it was read to its end and thrown away.
    TooLong,
    /// There is none.
    End,
}

/// Reads the next line that is not blank.
pub(crate) fn next(reader: &mut impl BufRead, limit: usize) -> io::Result<Line> {
    loop {
        match one(reader, limit)? {
            Line::Bytes(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {}
            line => return Ok(line),
        }
    }
}

fn one(reader: &mut impl BufRead, limit: usize) -> io::Result<Line> {
    let (mut bytes, mut too_long, mut any) = (Vec::new(), false, false);
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if buffer.is_empty() {
            return Ok(if too_long {
                Line::TooLong
            } else if any {
                Line::Bytes(bytes)
            } else {
                Line::End
            });
        }
        any = true;
        let end = buffer.iter().position(|b| *b == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        if bytes.len().saturating_add(part.len()) > limit {
            too_long = true;
            bytes = Vec::new();
        } else if !too_long {
            bytes.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Bytes(bytes) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn lines(text: &[u8], limit: usize, buffer: usize) -> Vec<Line> {
        let mut reader = BufReader::with_capacity(buffer, text);
        let mut lines = Vec::new();
        loop {
            match next(&mut reader, limit).unwrap() {
                Line::End => return lines,
                line => lines.push(line),
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_whole() {
        let found = lines(b"0123456789\n01234\n\n  \r\n0123456789", 5, 3);
        assert_eq!(found, [Line::TooLong, Line::Bytes(b"01234".to_vec()), Line::TooLong]);
    }

    proptest! {
        #[test]
        fn lines_are_what_stands_between_line_feeds(
            parts in proptest::collection::vec("[a-z]{1,9}", 0..6),
            buffer in 1_usize..8,
        ) {
            let text = parts.join("\n");
            let wanted: Vec<Line> = parts.iter().map(|part| {
                if part.len() > 6 { Line::TooLong } else { Line::Bytes(part.clone().into_bytes()) }
            }).collect();
            prop_assert_eq!(lines(text.as_bytes(), 6, buffer), wanted);
        }
    }
}
