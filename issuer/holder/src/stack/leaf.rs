//! The tools and the end of a warrant, as far as they are of the shape that our issuer writes.

use pact_mandate::{
    Action, Project, UnixTime,
    cbor::{CborError, Kind, Reader},
};

use crate::bridge::credential::Reach;

/// Fields of a payload, by number (Tenuo's wire specification).
const TOOLS: u64 = 3;
const EXPIRES_AT: u64 = 7;
/// Constraints, by number: one value, and one of several.
const EXACT: u64 = 1;
const ONE_OF: u64 = 4;

/// What a warrant says of itself. What cannot be read is left out.
#[derive(Debug, Default)]
pub(crate) struct Leaf {
    /// Each tool, and the projects in which it may be called: none where it is not limited to some.
    tools: Vec<(String, Vec<String>)>,
    expires_at: Option<u64>,
}

impl Leaf {
    pub(super) fn read(payload: &[u8]) -> Leaf {
        let mut leaf = Leaf::default();
        // What was read before a fault counts; a verifier says what the fault is.
        let _ = leaf.read_fields(payload);
        leaf
    }

    fn read_fields(&mut self, payload: &[u8]) -> Result<(), CborError> {
        Reader::new(payload).map(|reader, count| {
            for _ in 0..count {
                match reader.unsigned()? {
                    TOOLS => self.tools = read_tools(reader)?,
                    EXPIRES_AT => self.expires_at = Some(reader.unsigned()?),
                    _ => reader.skip()?,
                }
            }
            Ok(())
        })
    }

    /// The same in the words of mandates.
    pub(crate) fn words(self) -> (Reach, Option<UnixTime>) {
        let mut pairs: Vec<(Action, Option<Project>)> = Vec::new();
        for (tool, projects) in &self.tools {
            let Ok(action) = tool.parse::<Action>() else { continue };
            if projects.is_empty() {
                pairs.push((action.clone(), None));
            }
            let projects = projects.iter().filter_map(|project| project.parse().ok());
            pairs.extend(projects.map(|project| (action.clone(), Some(project))));
        }
        let ends = self.expires_at.and_then(|seconds| UnixTime::try_from(seconds).ok());
        (if pairs.is_empty() { Reach::Unknown } else { Reach::Pairs(pairs) }, ends)
    }
}

fn read_tools(reader: &mut Reader<'_>) -> Result<Vec<(String, Vec<String>)>, CborError> {
    reader.map(|reader, count| {
        let mut tools = Vec::new();
        for _ in 0..count {
            let name = reader.text()?.to_owned();
            tools.push((name, read_capability(reader)?));
        }
        Ok(tools)
    })
}

/// `{"constraints": {argument: constraint, …}, …}`: the values that the argument `project` may have.
fn read_capability(reader: &mut Reader<'_>) -> Result<Vec<String>, CborError> {
    let mut projects = Vec::new();
    reader.map(|reader, count| {
        for _ in 0..count {
            if reader.text()? == "constraints" {
                projects = read_constraints(reader)?;
            } else {
                reader.skip()?;
            }
        }
        Ok::<_, CborError>(())
    })?;
    Ok(projects)
}

fn read_constraints(reader: &mut Reader<'_>) -> Result<Vec<String>, CborError> {
    reader.map(|reader, count| {
        let mut projects = Vec::new();
        for _ in 0..count {
            if reader.text()? == "project" {
                projects = read_values(reader)?;
            } else {
                reader.skip()?;
            }
        }
        Ok(projects)
    })
}

/// `[1, {"value": v}]` or `[4, {"values": [v, …]}]`; of any other constraint nothing.
fn read_values(reader: &mut Reader<'_>) -> Result<Vec<String>, CborError> {
    reader.tuple(2, |reader| {
        let kind = reader.unsigned()?;
        if kind != EXACT && kind != ONE_OF {
            reader.skip()?;
            return Ok(Vec::new());
        }
        reader.map(|reader, count| {
            let mut values = Vec::new();
            for _ in 0..count {
                reader.text()?;
                if kind == EXACT {
                    values.extend(read_text(reader)?);
                } else {
                    values.extend(reader.array(read_texts)?);
                }
            }
            Ok(values)
        })
    })
}

fn read_texts(reader: &mut Reader<'_>, count: usize) -> Result<Vec<String>, CborError> {
    let mut texts = Vec::new();
    for _ in 0..count {
        texts.extend(read_text(reader)?);
    }
    Ok(texts)
}

fn read_text(reader: &mut Reader<'_>) -> Result<Option<String>, CborError> {
    if reader.kind()? == Kind::Text {
        return Ok(Some(reader.text()?.to_owned()));
    }
    reader.skip()?;
    Ok(None)
}
