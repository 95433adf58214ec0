//! The part of the Redis protocol (RESP2) that the store speaks: commands out, bounded answers in.
//!
//! Written here, and not taken from a client library, because an answer must be bounded in bytes and as a whole in time
//! whatever the other side sends, and because five commands need no more.

use std::io::{self, BufRead, Read};

use crate::limits::{MAX_REPLY_BYTES, MAX_REPLY_ITEMS};

/// What the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A simple or a bulk string.
    Text(Vec<u8>),
    Number(i64),
    Error(Vec<u8>),
    List(Vec<Reply>),
    Nothing,
}

/// A command as it is sent.
pub(super) fn command(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", parts.len()).into_bytes();
    for part in parts {
        bytes.extend(format!("${}\r\n", part.len()).as_bytes());
        bytes.extend(*part);
        bytes.extend(b"\r\n");
    }
    bytes
}

/// Reads one answer.
pub(super) fn read(from: &mut impl BufRead) -> io::Result<Reply> {
    match read_head(from)? {
        Head::List(count) => Ok(Reply::List((0..count).map(|_| read_flat(from)).collect::<io::Result<_>>()?)),
        head => read_body(head, from),
    }
}

/// An answer's first line.
enum Head {
    Whole(Reply),
    Bulk(usize),
    List(usize),
}

/// Our script answers no list within a list.
fn read_flat(from: &mut impl BufRead) -> io::Result<Reply> {
    match read_head(from)? {
        Head::List(_) => Err(garbage()),
        head => read_body(head, from),
    }
}

fn read_body(head: Head, from: &mut impl BufRead) -> io::Result<Reply> {
    match head {
        Head::Whole(reply) => Ok(reply),
        Head::Bulk(count) => {
            let mut bytes = vec![0; count];
            from.read_exact(&mut bytes)?;
            let mut end = [0; 2];
            from.read_exact(&mut end)?;
            if end == *b"\r\n" { Ok(Reply::Text(bytes)) } else { Err(garbage()) }
        }
        Head::List(_) => Err(garbage()),
    }
}

fn read_head(from: &mut impl BufRead) -> io::Result<Head> {
    let line = read_line(from)?;
    let (kind, rest) = line.split_first().ok_or_else(garbage)?;
    match kind {
        b'+' => Ok(Head::Whole(Reply::Text(rest.to_vec()))),
        b'-' => Ok(Head::Whole(Reply::Error(rest.to_vec()))),
        b':' => Ok(Head::Whole(Reply::Number(number(rest)?))),
        b'$' | b'*' if rest == b"-1" => Ok(Head::Whole(Reply::Nothing)),
        b'$' => Ok(Head::Bulk(count(rest, MAX_REPLY_BYTES)?)),
        b'*' => Ok(Head::List(count(rest, MAX_REPLY_ITEMS)?)),
        _ => Err(garbage()),
    }
}

/// A line without its end.
fn read_line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let most = u64::try_from(MAX_REPLY_BYTES).unwrap_or(u64::MAX);
    from.take(most).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    match line.strip_suffix(b"\r\n") {
        Some(text) => Ok(text.to_vec()),
        None if line.len() < MAX_REPLY_BYTES && !line.ends_with(b"\n") => {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
        None => Err(garbage()),
    }
}

fn number(digits: &[u8]) -> io::Result<i64> {
    str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or_else(garbage)
}

fn count(digits: &[u8], most: usize) -> io::Result<usize> {
    let count = usize::try_from(number(digits)?).map_err(|_| garbage())?;
    if count <= most { Ok(count) } else { Err(garbage()) }
}

fn garbage() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_all(mut bytes: &[u8]) -> Result<Reply, io::ErrorKind> {
        let reply = read(&mut bytes).map_err(|error| error.kind())?;
        assert!(bytes.is_empty());
        Ok(reply)
    }

    #[test]
    fn each_kind_of_answer_is_read() {
        let text = |text: &str| Reply::Text(text.into());
        assert_eq!(read_all(b"+OK\r\n"), Ok(text("OK")));
        assert_eq!(read_all(b"-ERR no\r\n"), Ok(Reply::Error(b"ERR no".into())));
        assert_eq!(read_all(b":-12\r\n"), Ok(Reply::Number(-12)));
        assert_eq!(read_all(b"$-1\r\n"), Ok(Reply::Nothing));
        assert_eq!(read_all(b"$4\r\na\r\nb\r\n"), Ok(text("a\r\nb")));
        assert_eq!(
            read_all(b"*3\r\n$1\r\na\r\n:7\r\n+x\r\n"),
            Ok(Reply::List(vec![text("a"), Reply::Number(7), text("x")]))
        );
    }

    #[test]
    fn what_is_no_bounded_answer_is_garbage_before_memory_is_taken_for_it() {
        let many = format!("*{}\r\n", MAX_REPLY_ITEMS + 1);
        let large = format!("${}\r\n", MAX_REPLY_BYTES + 1);
        for wrong in [
            "HTTP/1.1 400 Bad Request\r\n",
            "*99999999999999999999\r\n",
            "$9223372036854775807\r\n",
            "$-2\r\n",
            ":x\r\n",
            "+a\n",
            "*1\r\n*1\r\n:1\r\n",
            "$1\r\nabc",
            &many,
            &large,
        ] {
            assert_eq!(read_all(wrong.as_bytes()), Err(io::ErrorKind::InvalidData), "{wrong}");
        }
        let endless = [b'+'].repeat(2 * MAX_REPLY_BYTES);
        assert_eq!(read(&mut &endless[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        for cut in ["", "+OK", "$4\r\nab", "*2\r\n:1\r\n"] {
            assert_eq!(read_all(cut.as_bytes()), Err(io::ErrorKind::UnexpectedEof), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = read(&mut &bytes[..]);
        }

        #[test]
        fn a_command_is_the_list_of_its_parts(parts in prop::collection::vec(any::<Vec<u8>>(), 1..8)) {
            let sent = command(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let expected = parts.into_iter().map(Reply::Text).collect();
            prop_assert_eq!(read_all(&sent), Ok(Reply::List(expected)));
        }
    }
}
