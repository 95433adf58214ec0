//! Reading a payload: numbered fields in ascending order.

use std::collections::BTreeMap;

use pact_mandate::{PublicKey, cbor::Reader};

use super::{Approvals, Grant, Issuance, Warrant};
use crate::{
    format::tenuo::{
        capability::Capability,
        envelope::read_ed25519,
        extensions::Extensions,
        fault::FormFault,
        names::{self, Names},
    },
    limits::{MAX_APPROVERS, MAX_TENUO_NAME_BYTES, MAX_TOOLS},
};

/// The fields as they come, each still to be missed or found out of place.
#[derive(Default)]
struct Draft {
    version: Option<u64>,
    id: Option<[u8; 16]>,
    kind: Option<u64>,
    tools: Option<BTreeMap<String, Capability>>,
    holder: Option<[u8; 32]>,
    issuer: Option<[u8; 32]>,
    issued_at: Option<u64>,
    expires_at: Option<u64>,
    max_depth: Option<u8>,
    parent_hash: Option<[u8; 32]>,
    extensions: Extensions,
    issuable: Option<Vec<String>>,
    max_issue_depth: Option<u32>,
    bounds: Option<Capability>,
    approvers: Option<Vec<[u8; 32]>>,
    min_approvals: Option<u32>,
    clearance: u8,
    depth: Option<u32>,
}

impl Warrant {
    /// Reads a payload, whole.
    pub(in crate::format::tenuo) fn read(payload: &[u8]) -> Result<Warrant, FormFault> {
        let mut reader = Reader::new(payload);
        let mut draft = Draft::default();
        reader.map(|reader, count| {
            let mut last = None;
            for _ in 0..count {
                let at = reader.position();
                let field = reader.unsigned()?;
                if last >= Some(field) {
                    return Err(FormFault::KeyOrder { at });
                }
                last = Some(field);
                draft.read_field(field, reader)?;
            }
            Ok(())
        })?;
        reader.finish()?;
        draft.into_warrant()
    }
}

impl Draft {
    fn read_field(&mut self, field: u64, reader: &mut Reader<'_>) -> Result<(), FormFault> {
        match field {
            0 => self.version = Some(reader.unsigned()?),
            1 => self.id = Some(*reader.byte_array()?),
            2 => self.kind = Some(reader.unsigned()?),
            3 => self.tools = Some(read_tools(reader)?),
            4 => self.holder = Some(*read_ed25519(reader)?),
            5 => self.issuer = Some(*read_ed25519(reader)?),
            6 => self.issued_at = Some(reader.unsigned()?),
            7 => self.expires_at = Some(reader.unsigned()?),
            8 => self.max_depth = Some(reader.unsigned_as()?),
            9 => self.parent_hash = Some(read_hash(reader)?),
            10 => self.extensions = Extensions::read(reader)?,
            11 => self.issuable = Some(read_issuable(reader)?),
            13 => self.max_issue_depth = Some(reader.unsigned_as()?),
            14 => self.bounds = Some(Capability::read(reader)?),
            15 => self.approvers = Some(read_approvers(reader)?),
            16 => self.min_approvals = Some(reader.unsigned_as()?),
            17 => self.clearance = reader.unsigned_as()?,
            18 => self.depth = Some(reader.unsigned_as()?),
            other => return Err(FormFault::UnknownField(other)),
        }
        Ok(())
    }

    fn into_warrant(mut self) -> Result<Warrant, FormFault> {
        let missing = FormFault::MissingField;
        check_version(self.version.ok_or(missing(0))?)?;
        let grant = self.take_grant()?;
        Ok(Warrant {
            approvals: self.take_approvals()?,
            id: self.id.ok_or(missing(1))?,
            grant,
            holder: self.holder.ok_or(missing(4))?,
            issuer: self.issuer.ok_or(missing(5))?,
            issued_at: self.issued_at.ok_or(missing(6))?,
            expires_at: self.expires_at.ok_or(missing(7))?,
            max_depth: self.max_depth.ok_or(missing(8))?,
            parent_hash: self.parent_hash,
            extensions: self.extensions,
            clearance: self.clearance,
            depth: self.depth.ok_or(missing(18))?,
        })
    }

    fn take_grant(&mut self) -> Result<Grant, FormFault> {
        let tools = self.tools.take().ok_or(FormFault::MissingField(3))?;
        match self.kind.ok_or(FormFault::MissingField(2))? {
            0 => {
                let issuers_own = [
                    (11, self.issuable.is_some()),
                    (13, self.max_issue_depth.is_some()),
                    (14, self.bounds.is_some()),
                ];
                match issuers_own.into_iter().find(|(_, present)| *present) {
                    Some((field, _)) => Err(FormFault::MisplacedField(field)),
                    None => Ok(Grant::Execution(tools)),
                }
            }
            1 if !tools.is_empty() => Err(FormFault::MisplacedField(3)),
            1 => self.take_issuance().map(Grant::Issuer),
            other => Err(FormFault::UnknownType(other)),
        }
    }

    fn take_issuance(&mut self) -> Result<Issuance, FormFault> {
        let tools =
            self.issuable.take().filter(|tools| !tools.is_empty()).ok_or(FormFault::NothingToIssue)?;
        let most = self.max_depth.ok_or(FormFault::MissingField(8))?;
        if self.max_issue_depth.is_some_and(|depth| depth > u32::from(most)) {
            return Err(FormFault::IssuesTooDeep { most });
        }
        Ok(Issuance { tools, max_depth: self.max_issue_depth, bounds: self.bounds.take() })
    }

    /// Approvers and threshold go together, and can be met.
    fn take_approvals(&mut self) -> Result<Approvals, FormFault> {
        let Some(mut approvers) = self.approvers.take() else {
            return match self.min_approvals {
                None => Ok(Approvals::default()),
                Some(wanted) => Err(FormFault::BadThreshold { wanted, approvers: 0 }),
            };
        };
        approvers.sort_unstable();
        approvers.dedup();
        let threshold = match self.min_approvals {
            None => approvers.len(),
            Some(wanted) => usize::try_from(wanted).unwrap_or(usize::MAX),
        };
        if (1..=approvers.len()).contains(&threshold) {
            return Ok(Approvals { approvers, threshold });
        }
        Err(FormFault::BadThreshold { wanted: self.min_approvals.unwrap_or(0), approvers: approvers.len() })
    }
}

fn check_version(version: u64) -> Result<(), FormFault> {
    if version == 1 { Ok(()) } else { Err(FormFault::UnknownVersion(version)) }
}

fn read_tools(reader: &mut Reader<'_>) -> Result<BTreeMap<String, Capability>, FormFault> {
    reader.map(|reader, count| {
        names::check_count("tools", count, MAX_TOOLS)?;
        let mut names = Names::new("a tool's name");
        let mut tools = BTreeMap::new();
        for _ in 0..count {
            let tool = names.next(reader)?;
            check_tool(tool)?;
            tools.insert(tool.to_owned(), Capability::read(reader)?);
        }
        Ok(tools)
    })
}

fn read_issuable(reader: &mut Reader<'_>) -> Result<Vec<String>, FormFault> {
    reader.array(|reader, count| {
        names::check_count("issuable tools", count, MAX_TOOLS)?;
        let one = |reader: &mut Reader<'_>| {
            let tool = reader.text()?;
            names::check_length("a tool's name", tool.len(), MAX_TENUO_NAME_BYTES)?;
            check_tool(tool)?;
            Ok(tool.to_owned())
        };
        (0..count).map(|_| one(reader)).collect()
    })
}

fn check_tool(tool: &str) -> Result<(), FormFault> {
    if tool.starts_with("tenuo:") { Err(FormFault::ReservedTool(tool.to_owned())) } else { Ok(()) }
}

/// Each is a key that could verify something (protocol K5), though no approval is verified here.
fn read_approvers(reader: &mut Reader<'_>) -> Result<Vec<[u8; 32]>, FormFault> {
    reader.array(|reader, count| {
        names::check_count("approvers", count, MAX_APPROVERS)?;
        let one = |reader: &mut Reader<'_>| Ok(*PublicKey::from_bytes(read_ed25519(reader)?)?.as_bytes());
        (0..count).map(|_| one(reader)).collect()
    })
}

/// A digest, written as an array of 32 numbers.
fn read_hash(reader: &mut Reader<'_>) -> Result<[u8; 32], FormFault> {
    reader.tuple(32, |reader| {
        let mut hash = [0; 32];
        for byte in &mut hash {
            *byte = reader.unsigned_as()?;
        }
        Ok(hash)
    })
}
