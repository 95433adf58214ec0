//! What a process writes, line by line, within a bound.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::answer::Skim;

/// One line, without its end.
pub(super) enum Line {
    Whole(Vec<u8>),
    /// It was longer than the bound: what could be learnt of it while it went by.
    TooLong(Box<Skim>),
}

/// Reads lines.
pub(super) struct Lines<R> {
    reader: R,
    most: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, most: usize) -> Lines<R> {
        Lines { reader, most }
    }

    /// The next line; `None` at the end. What stands behind the last line's end counts as one.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        let (mut kept, mut skim) = (Vec::new(), None::<Box<Skim>>);
        loop {
            let part = self.reader.fill_buf().await?;
            if part.is_empty() {
                return Ok(Some(finished(kept, skim)).filter(|line| !line.is_empty()));
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let text = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
            match &mut skim {
                Some(skim) => drop(skim.take(text)),
                None if kept.len().saturating_add(text.len()) <= self.most => kept.extend_from_slice(text),
                None => {
                    let mut long = Box::<Skim>::default();
                    long.take(&std::mem::take(&mut kept));
                    long.take(text);
                    skim = Some(long);
                }
            }
            let used = end.map_or(part.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(finished(kept, skim)));
            }
        }
    }
}

fn finished(kept: Vec<u8>, skim: Option<Box<Skim>>) -> Line {
    skim.map_or(Line::Whole(kept), Line::TooLong)
}

impl Line {
    fn is_empty(&self) -> bool {
        matches!(self, Line::Whole(text) if text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;
    use crate::answer::Kind;

    #[tokio::test]
    async fn a_line_beyond_the_bound_is_not_kept_and_still_known_by_its_id() {
        let long = format!("{{\"id\":7,\"result\":{{\"a\":\"{}\"}}}}", "x".repeat(100));
        let text = format!("one\n\n{long}\n{}\nlast", "y".repeat(20));
        for buffer in [1, 7, 1000] {
            let mut lines = Lines::new(BufReader::with_capacity(buffer, text.as_bytes()), 20);
            let mut found = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                found.push(match line {
                    Line::Whole(text) => String::from_utf8(text).unwrap(),
                    Line::TooLong(skim) => match skim.finish() {
                        Ok(Some(Kind::Response(Some(id)))) => format!("too long: {}", id.to_json()),
                        other => panic!("{other:?}"),
                    },
                });
            }
            assert_eq!(found, ["one", "", "too long: 7", &"y".repeat(20), "last"]);
        }
    }
}
