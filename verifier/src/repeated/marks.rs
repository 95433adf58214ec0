//! Which arguments of a tool are repeated in headers: those whose schema is marked by `x-mcp-header`.

use pact_mandate::{Json, json::Member};

use super::{PARAM_PREFIX, of_argument};
use crate::limits::{MAX_PARAM_MARKS, MAX_PARAM_NAME_BYTES};

/// The marked arguments of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(Vec<Mark>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    /// The whole name, in lower case.
    header: String,
    /// The members from the arguments down to it.
    path: Vec<String>,
}

/// Why the marks of a tool count for nothing. MCP wants clients to leave such a tool out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkFault {
    /// A name that no header can have, or a longer one than is read.
    #[error("an x-mcp-header is no token of HTTP of at most {MAX_PARAM_NAME_BYTES} bytes")]
    NotAToken,
    /// One name for two arguments.
    #[error("two arguments are marked with one x-mcp-header")]
    Twice,
    /// What no header repeats.
    #[error("an x-mcp-header marks what is neither a string nor an integer nor a boolean")]
    NotPrimitive,
    /// A place that does not lead to one argument.
    #[error("an x-mcp-header stands where it is not reached by `properties` alone")]
    NotReached,
    /// More than are read.
    #[error("more than {MAX_PARAM_MARKS} arguments are marked with an x-mcp-header")]
    TooMany,
}

/// Whether a schema is the arguments' own, or reached from it by `properties` alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Argument,
    Elsewhere,
}

impl Marks {
    /// Those of an entry of a list of tools, by its `inputSchema`.
    pub fn of(tool: &Json) -> Result<Marks, MarkFault> {
        let mut marks = Marks::default();
        if let Some(schema) = tool.get("inputSchema") {
            marks.read(schema, Place::Root, &mut Vec::new())?;
        }
        Ok(marks)
    }

    /// Where the argument is that a header repeats, if the header is one of these: `Some(None)` for one that the call does
    /// not have.
    pub fn argument<'a>(&self, header: &str, arguments: &'a Json) -> Option<Option<&'a Json>> {
        let mark = self.0.iter().find(|mark| mark.header == header)?;
        Some(mark.find(arguments))
    }

    /// The headers of a call with these arguments, by name and value.
    pub fn headers<'a>(&'a self, arguments: &'a Json) -> impl Iterator<Item = (&'a str, String)> {
        self.0.iter().filter_map(|mark| {
            let value = of_argument(mark.find(arguments)?)?;
            Some((mark.header.as_str(), value.into_owned()))
        })
    }

    /// As deep as the strict parser lets a text go.
    fn read(&mut self, schema: &Json, place: Place, path: &mut Vec<String>) -> Result<(), MarkFault> {
        let inside = if place == Place::Elsewhere { Place::Elsewhere } else { Place::Argument };
        for Member { name, value, .. } in schema.members().unwrap_or_default() {
            match name.as_str() {
                "x-mcp-header" => self.note(schema, value, place, path)?,
                "properties" => self.read_each(value, inside, path)?,
                "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties" => {
                    self.read_each(value, Place::Elsewhere, path)?;
                }
                // Values and names, no schemas.
                "default" | "const" | "enum" | "examples" | "dependentRequired" => {}
                _ => self.read_elsewhere(value, path)?,
            }
        }
        Ok(())
    }

    fn read_each(&mut self, schemas: &Json, place: Place, path: &mut Vec<String>) -> Result<(), MarkFault> {
        for Member { name, value, .. } in schemas.members().unwrap_or_default() {
            path.push(name.clone());
            self.read(value, place, path)?;
            path.pop();
        }
        Ok(())
    }

    fn read_elsewhere(&mut self, value: &Json, path: &mut Vec<String>) -> Result<(), MarkFault> {
        match value {
            Json::Array(items) => items.iter().try_for_each(|item| self.read_elsewhere(item, path)),
            value => self.read(value, Place::Elsewhere, path),
        }
    }

    fn note(&mut self, schema: &Json, header: &Json, place: Place, path: &[String]) -> Result<(), MarkFault> {
        if place != Place::Argument {
            return Err(MarkFault::NotReached);
        }
        let name = header.as_str().filter(|name| is_token(name)).ok_or(MarkFault::NotAToken)?;
        let kind = schema.get("type").and_then(Json::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(MarkFault::NotPrimitive);
        }
        let header = format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase());
        if self.0.iter().any(|mark| mark.header == header) {
            return Err(MarkFault::Twice);
        }
        if self.0.len() >= MAX_PARAM_MARKS {
            return Err(MarkFault::TooMany);
        }
        self.0.push(Mark { header, path: path.to_vec() });
        Ok(())
    }
}

impl Mark {
    fn find<'a>(&self, arguments: &'a Json) -> Option<&'a Json> {
        let found = self.path.iter().try_fold(arguments, |inside, name| inside.get(name));
        // MCP takes an argument that is null for one that is not there.
        found.filter(|argument| !matches!(argument, Json::Null))
    }
}

/// RFC 9110 5.6.2.
fn is_token(text: &str) -> bool {
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=MAX_PARAM_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_in)
}
