//! A credential in the holder's hands, with what it says of itself. Nothing of that is verified: a holder believes its
//! issuer, and uses it only to choose among its own credentials and to know when to get the next one.

use std::fmt;

use pact_mandate::{Action, Format, Project, UnixTime};

use super::{biscuit, url::UpstreamUrl};
use crate::{error::SignError, stack};

/// A credential, and where it may go.
#[derive(Clone)]
pub(crate) struct Credential {
    format: Format,
    text: String,
    reach: Reach,
    ends: Option<UnixTime>,
    bound: Vec<UpstreamUrl>,
}

/// For what a credential is good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nobody knows.
    #[default]
    Unknown,
    /// These actions, each in a project or, where none is named, in any.
    Pairs(Vec<(Action, Option<Project>)>),
}

/// What a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) action: Action,
    pub(crate) project: Option<Project>,
}

/// How well a credential fits; the greater the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It says that it does not cover the action.
    No,
    /// It does not say.
    Perhaps,
    /// It covers the action in another project.
    OtherProject,
    /// It covers the call.
    Covers,
}

impl Credential {
    /// Takes the text as it was exported; what cannot be read of it stays unknown. An operator's own word on what it is for
    /// counts before the credential's.
    pub(crate) fn new(
        format: Format,
        text: &str,
        stated: Reach,
        bound: Vec<UpstreamUrl>,
    ) -> Result<Credential, SignError> {
        let text = text.trim();
        let (reach, ends) = match format {
            Format::Biscuit => biscuit::unverified_words(text).ok_or(SignError::NotAToken)?,
            _ => stack::unverified_leaf(text)?.words(),
        };
        let reach = if stated == Reach::Unknown { reach } else { stated };
        Ok(Credential { format, text: text.to_owned(), reach, ends, bound })
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// For whoever signs and sends; never for a log.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// When it ends, as far as it says.
    pub(crate) fn ends(&self) -> Option<UnixTime> {
        self.ends
    }

    /// Whether it may be shown to the server there.
    pub(crate) fn may_go_to(&self, url: &UpstreamUrl) -> bool {
        self.bound.contains(url)
    }

    /// How well it fits.
    pub(crate) fn fit(&self, wanted: &Wanted) -> Fit {
        let Reach::Pairs(pairs) = &self.reach else { return Fit::Perhaps };
        let fit = |(action, project): &(Action, Option<Project>)| {
            let same = match (project, &wanted.project) {
                (Some(granted), Some(wanted)) => granted == wanted,
                _ => true,
            };
            match (action.covers(&wanted.action), same) {
                (false, _) => Fit::No,
                (true, false) => Fit::OtherProject,
                (true, true) => Fit::Covers,
            }
        };
        pairs.iter().map(fit).max().unwrap_or(Fit::No)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("format", &self.format)
            .field("ends", &self.ends)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use base64::{Engine, engine::general_purpose::STANDARD};
    use tenuo::{ConstraintSet, Exact, SigningKey, Warrant, Wildcard, wire};

    use super::*;

    fn stack() -> (String, u64) {
        let key = SigningKey::from_bytes(&[1; 32]);
        let mut web = ConstraintSet::new();
        web.insert("project", Exact::new("web"));
        let mut any = ConstraintSet::new();
        any.insert("path", Wildcard::new());
        let warrant = Warrant::builder()
            .capability("task.read", web)
            .capability("log.read", any)
            .holder(key.public_key())
            .ttl(Duration::from_mins(5))
            .build(&key)
            .unwrap();
        let ends = u64::try_from(warrant.expires_at().timestamp()).unwrap();
        let stack = wire::encode_stack(&wire::WarrantStack(vec![warrant])).unwrap();
        (STANDARD.encode(stack), ends)
    }

    fn wanted(action: &str, project: Option<&str>) -> Wanted {
        Wanted { action: action.parse().unwrap(), project: project.map(|project| project.parse().unwrap()) }
    }

    #[test]
    fn a_warrant_says_for_what_it_is_good_and_until_when() {
        let (text, ends) = stack();
        let credential =
            Credential::new(Format::Tenuo, &format!(" {text}\n"), Reach::Unknown, Vec::new()).unwrap();
        assert_eq!(credential.ends().map(UnixTime::seconds), Some(ends));
        for (action, project, fit) in [
            ("task.read", Some("web"), Fit::Covers),
            ("task.read", None, Fit::Covers),
            ("task.read", Some("shop"), Fit::OtherProject),
            ("log.read", Some("shop"), Fit::Covers),
            ("task.work", Some("web"), Fit::No),
        ] {
            assert_eq!(credential.fit(&wanted(action, project)), fit, "{action} {project:?}");
        }
        assert!(!format!("{credential:?}").contains(&text));
    }

    #[test]
    fn the_operators_word_counts_before_the_credentials() {
        let stated = Reach::Pairs(vec![("order.*".parse().unwrap(), None)]);
        let credential = Credential::new(Format::Tenuo, &stack().0, stated, Vec::new()).unwrap();
        assert_eq!(credential.fit(&wanted("order.refund", Some("x"))), Fit::Covers);
        assert_eq!(credential.fit(&wanted("task.read", Some("web"))), Fit::No);
    }
}
