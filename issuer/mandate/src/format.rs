//! The forms in which authority travels.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The form of a credential, as it is named in a list's `covers`, in configuration and in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A Tenuo warrant stack.
    Tenuo,
    /// A Biscuit token.
    Biscuit,
    /// Our own mandates.
    Pact,
}

impl Format {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Format; 3] = [Format::Tenuo, Format::Biscuit, Format::Pact];

    /// The name used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tenuo => "tenuo",
            Format::Biscuit => "biscuit",
            Format::Pact => "pact",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
