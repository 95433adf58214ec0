//! Maps with text keys in the one order in which they are written.

use pact_mandate::cbor::{CborError, CborFault, Reader};

use super::fault::FormFault;

/// The members of such a map, read one after the other.
pub(super) struct Fields<'r, 'a> {
    reader: &'r mut Reader<'a>,
}

impl<'a> Fields<'_, 'a> {
    /// Reads a map of exactly `count` members.
    pub(super) fn read<T>(
        reader: &mut Reader<'a>,
        count: usize,
        members: impl FnOnce(&mut Fields<'_, 'a>) -> Result<T, FormFault>,
    ) -> Result<T, FormFault> {
        Fields::read_any(reader, |fields, found| {
            if found == count {
                members(fields)
            } else {
                Err(fields.error("a map with another number of members").into())
            }
        })
    }

    /// Reads a map whose number of members says which are there.
    pub(super) fn read_any<T>(
        reader: &mut Reader<'a>,
        members: impl FnOnce(&mut Fields<'_, 'a>, usize) -> Result<T, FormFault>,
    ) -> Result<T, FormFault> {
        reader.map(|reader, found| members(&mut Fields { reader }, found))
    }

    /// The next member, which must be the one of that name.
    pub(super) fn next<T, E>(
        &mut self,
        name: &'static str,
        value: impl FnOnce(&mut Reader<'a>) -> Result<T, E>,
    ) -> Result<T, FormFault>
    where
        FormFault: From<E>,
    {
        let error = self.error(name);
        if self.reader.text()? == name { Ok(value(self.reader)?) } else { Err(error.into()) }
    }

    /// The fault of finding something else than `expected` here.
    pub(super) fn error(&self, expected: &'static str) -> CborError {
        CborError { fault: CborFault::Unexpected { expected }, at: self.reader.position() }
    }
}
