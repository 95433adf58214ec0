//! Extensions: those under `tenuo.` and `pact.` can restrict a warrant, so an unknown one is refused; others mean
//! nothing here.

use pact_mandate::{
    IssuerId,
    cbor::{CborError, CborFault, Reader},
};

use super::{
    fault::FormFault,
    names::{self, Names},
};
use crate::limits::{MAX_EXTENSION_BYTES, MAX_EXTENSIONS};

/// What the extensions say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    /// `tenuo.session_id`.
    pub(super) session: Option<String>,
    /// Whether there are `tenuo.approval_gates`: calls that need approvals first.
    pub(super) gated: bool,
    /// `pact.source`: the issuer of the mandate that was imported and exported again (protocol C6).
    pub(super) source: Option<IssuerId>,
}

impl Extensions {
    /// Reads a map of at least one extension.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Extensions, FormFault> {
        let at = reader.position();
        reader.map(|reader, count| {
            if count == 0 {
                let fault = CborFault::Unexpected { expected: "at least one extension, or no such field" };
                return Err(CborError { fault, at }.into());
            }
            names::check_count("extensions", count, MAX_EXTENSIONS)?;
            let mut names = Names::new("an extension's name");
            let mut extensions = Extensions::default();
            for _ in 0..count {
                let name = names.next(reader)?;
                extensions.take(name, read_octets(reader)?)?;
            }
            Ok(extensions)
        })
    }

    fn take(&mut self, name: &str, value: Vec<u8>) -> Result<(), FormFault> {
        match name {
            "tenuo.session_id" => self.session = Some(text("tenuo.session_id", value)?),
            "tenuo.agent_id" => text("tenuo.agent_id", value).map(|_| ())?,
            "tenuo.approval_gates" => self.gated = true,
            "pact.source" => {
                let source = text("pact.source", value)?.parse();
                self.source = Some(source.map_err(|_| FormFault::BadExtension("pact.source"))?);
            }
            reserved if reserved.starts_with("tenuo.") || reserved.starts_with("pact.") => {
                return Err(FormFault::UnknownExtension(reserved.to_owned()));
            }
            _ => {}
        }
        Ok(())
    }
}

fn text(name: &'static str, value: Vec<u8>) -> Result<String, FormFault> {
    String::from_utf8(value).map_err(|_| FormFault::BadExtension(name))
}

/// Bytes, written as an array of numbers.
fn read_octets(reader: &mut Reader<'_>) -> Result<Vec<u8>, FormFault> {
    reader.array(|reader, count| {
        names::check_length("an extension", count, MAX_EXTENSION_BYTES)?;
        (0..count).map(|_| Ok(reader.unsigned_as()?)).collect()
    })
}
