//! Keys of maps: ascending, each once, none longer than the bound.

use pact_mandate::cbor::Reader;

use super::fault::FormFault;
use crate::limits::MAX_TENUO_NAME_BYTES;

/// Reads the keys of one map.
pub(super) struct Names<'a> {
    what: &'static str,
    last: Option<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn new(what: &'static str) -> Names<'a> {
        Names { what, last: None }
    }

    /// The next key.
    pub(super) fn next(&mut self, reader: &mut Reader<'a>) -> Result<&'a str, FormFault> {
        let at = reader.position();
        let name = reader.text()?;
        check_length(self.what, name.len(), MAX_TENUO_NAME_BYTES)?;
        if self.last.is_some_and(|last| last >= name) {
            return Err(FormFault::KeyOrder { at });
        }
        self.last = Some(name);
        Ok(name)
    }
}

pub(super) fn check_count(what: &'static str, found: usize, most: usize) -> Result<(), FormFault> {
    if found > most { Err(FormFault::TooMany { what, found, most }) } else { Ok(()) }
}

pub(super) fn check_length(what: &'static str, found: usize, most: usize) -> Result<(), FormFault> {
    if found > most { Err(FormFault::TooLong { what, found, most }) } else { Ok(()) }
}
