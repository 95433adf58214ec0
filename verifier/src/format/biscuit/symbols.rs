//! The words of a token: the 28 that every token has, and those that its blocks add, one after the other.

use super::defect::Defect;
use crate::limits::{MAX_SYMBOLS, MAX_TEXT_BYTES};

/// The index of a token's first own word.
const FIRST_OWN: u64 = 1024;

/// Reference: the format's default symbol table.
const DEFAULT: [&str; 28] = [
    "read",
    "write",
    "resource",
    "operation",
    "right",
    "time",
    "role",
    "owner",
    "tenant",
    "namespace",
    "user",
    "team",
    "service",
    "admin",
    "email",
    "group",
    "member",
    "ip_address",
    "client",
    "client_ip",
    "domain",
    "path",
    "version",
    "cluster",
    "node",
    "hostname",
    "nonce",
    "query",
];

/// The words of the blocks read so far. A block sees those of the blocks before it and its own; a word that only a
/// later block adds is unknown to it, so nobody who appends a block gives an earlier one another meaning.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    own: Vec<&'a str>,
}

impl<'a> Symbols<'a> {
    /// Adds a word of the block that is being read.
    pub(super) fn add(&mut self, word: &'a str) -> Result<(), Defect> {
        Symbols::check_text(word)?;
        if DEFAULT.contains(&word) || self.own.contains(&word) {
            return Err(Defect::SymbolRepeated);
        }
        if self.own.len() >= MAX_SYMBOLS {
            return Err(Defect::TooMany { what: "symbols", limit: MAX_SYMBOLS });
        }
        self.own.push(word);
        Ok(())
    }

    /// The word of that index.
    pub(super) fn word(&self, index: u64) -> Result<&'a str, Defect> {
        let unknown = Defect::SymbolUnknown { index };
        let at = |index: u64| usize::try_from(index).ok();
        match index.checked_sub(FIRST_OWN) {
            Some(own) => at(own).and_then(|at| self.own.get(at)).copied().ok_or(unknown),
            None => at(index).and_then(|at| DEFAULT.get(at)).copied().ok_or(unknown),
        }
    }

    /// The rules for every text of a token.
    pub(super) fn check_text(text: &str) -> Result<(), Defect> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(Defect::TextTooLong { limit: MAX_TEXT_BYTES });
        }
        if text.chars().any(char::is_control) { Err(Defect::ControlCharacter) } else { Ok(()) }
    }
}
