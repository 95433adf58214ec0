//! Paths confined under a root, by their spelling alone.

use pact_mandate::cbor::Reader;

use super::{
    fault::{FormFault, Misformed},
    fields::Fields,
    value::Value,
};

/// A root directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subpath {
    root: String,
    case_sensitive: bool,
    allow_equal: bool,
}

impl Subpath {
    /// The root must be spelled as a plain path: any other spelling would confine nothing that a reader expects.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Subpath, FormFault> {
        let subpath = Fields::read(reader, 3, |fields| {
            Ok(Subpath {
                root: fields.next("root", Reader::text)?.to_owned(),
                case_sensitive: fields.next("case_sensitive", Reader::bool)?,
                allow_equal: fields.next("allow_equal", Reader::bool)?,
            })
        })?;
        let plain = plain(&subpath.root) == Some(subpath.root.as_str());
        let folded =
            subpath.case_sensitive || subpath.fold(&subpath.root).as_deref() == Some(subpath.root.as_str());
        if plain && folded { Ok(subpath) } else { Err(Misformed::SubpathRoot.into()) }
    }

    /// Whether the value is spelled plainly enough to be judged: no `..`, no escapes, no backslashes.
    pub(super) fn is_judgeable(&self, value: &Value) -> bool {
        let judgeable = |text: &str| plain(text).is_some_and(|path| self.fold(path).is_some());
        match value {
            Value::Text(text) => judgeable(text),
            Value::List(items) => items.iter().filter_map(Value::as_text).all(judgeable),
            _ => true,
        }
    }

    /// A path under the root, or a list of nothing else.
    pub(super) fn admits(&self, value: &Value) -> bool {
        match value {
            Value::Text(text) => self.contains(text),
            Value::List(items) => {
                items.iter().all(|item| item.as_text().is_some_and(|text| self.contains(text)))
            }
            _ => false,
        }
    }

    pub(super) fn narrows_to(&self, child: &Subpath) -> bool {
        self.contains(&child.root)
            && (child.case_sensitive || !self.case_sensitive)
            && (self.allow_equal || !child.allow_equal)
    }

    fn contains(&self, text: &str) -> bool {
        let Some(path) = plain(text).and_then(|path| self.fold(path)) else { return false };
        if path == self.root {
            return self.allow_equal;
        }
        let root = self.root.strip_suffix('/').unwrap_or(&self.root);
        path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The path as it is compared. Without regard to case only ASCII is compared: what else is one letter to a file
    /// system is for that file system to say.
    fn fold(&self, path: &str) -> Option<String> {
        if self.case_sensitive {
            return Some(path.to_owned());
        }
        path.is_ascii().then(|| path.to_ascii_lowercase())
    }
}

/// The path without a last slash, when its spelling has one meaning: absolute, with neither empty parts nor `.` or `..`,
/// and nothing that some reader would decode.
fn plain(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('/')?;
    if rest.contains(['\0', '\\', '%']) {
        return None;
    }
    if rest.is_empty() {
        return Some(text);
    }
    let (path, rest) = match text.strip_suffix('/') {
        Some(path) => (path, rest.strip_suffix('/')?),
        None => (text, rest),
    };
    rest.split('/').all(|part| !matches!(part, "" | "." | "..")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(root: &str) -> Subpath {
        Subpath { root: root.to_owned(), case_sensitive: true, allow_equal: true }
    }

    #[test]
    fn c2_only_plain_spellings_are_paths() {
        for text in ["/data", "/data/a", "/data/a/", "/"] {
            assert!(plain(text).is_some(), "{text}");
        }
        for text in ["", "data", "//", "/a//b", "/a/./b", "/a/..", "/a%2e", "/a\\b", "/a\0", "C:/a"] {
            assert!(plain(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn c2_a_sibling_with_the_same_beginning_is_outside() {
        assert!(under("/data").contains("/data/a"));
        assert!(under("/data").contains("/data/"));
        assert!(under("/").contains("/data"));
        assert!(!under("/data").contains("/database"));
        assert!(!under("/data").contains("/dat"));
        assert!(!Subpath { allow_equal: false, ..under("/data") }.contains("/data"));
        let folding = Subpath { case_sensitive: false, ..under("/data") };
        assert!(folding.contains("/DATA/x") && !folding.contains("/DATA/ſ"));
    }
}
