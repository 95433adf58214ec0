//! What a holder does to a session of a tool server without calling a tool (protocol M4): it opens the session's stream, ends
//! the session, or answers what the tool server asked in it. No policy maps such an act and no scope covers it; it belongs to
//! the key that owns the session, and a proof by that key, for this one act, is what shows it.
//!
//! The proof is made as for a call (protocol P1, P4) of a tool that has the act's name. No action of a mandate holds a space,
//! so the proof of an act never passes for one of a call, nor the other way round.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{
    Asked, Json, PublicKey, UnixTime,
    canonical::CanonicalError,
    json::{Member, Number},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::proof::{
    Audience, FreshProof,
    dpop::Draft,
    params_digest,
    tenuo::{TenuoProofFault, message_named},
};

mod permit;

pub use permit::ActPermit;

/// One act on one session.
#[derive(Clone, PartialEq, Eq)]
pub struct Act {
    session: String,
    deed: Deed,
}

#[derive(Clone, PartialEq, Eq)]
enum Deed {
    Listen { last_event_id: Option<String> },
    Close,
    Respond { id: RequestId, body: [u8; 32] },
}

/// What kind of act: its text is the tool of its proof, which no action of a mandate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActName {
    /// Opens the session's stream.
    #[serde(rename = "GET session")]
    Listen,
    /// Ends the session.
    #[serde(rename = "DELETE session")]
    Close,
    /// Answers what the tool server asked.
    #[serde(rename = "POST response")]
    Respond,
}

/// The id of a request that the tool server sent, as its JSON says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestId {
    /// A number, as it was written.
    Number(Number),
    /// A text.
    Text(String),
}

impl ActName {
    /// The tool of its proof.
    pub fn as_str(self) -> &'static str {
        match self {
            ActName::Listen => "GET session",
            ActName::Close => "DELETE session",
            ActName::Respond => "POST response",
        }
    }
}

impl Act {
    /// Opens the session's stream, from the start or behind an event (`Last-Event-ID`).
    pub fn listen(session: impl Into<String>, last_event_id: Option<String>) -> Act {
        Act { session: session.into(), deed: Deed::Listen { last_event_id } }
    }

    /// Ends the session.
    pub fn close(session: impl Into<String>) -> Act {
        Act { session: session.into(), deed: Deed::Close }
    }

    /// Answers the request of that id by a body of exactly these bytes.
    pub fn respond(session: impl Into<String>, id: RequestId, body: &[u8]) -> Act {
        Act { session: session.into(), deed: Deed::Respond { id, body: Sha256::digest(body).into() } }
    }

    /// What kind it is.
    pub fn name(&self) -> ActName {
        match self.deed {
            Deed::Listen { .. } => ActName::Listen,
            Deed::Close => ActName::Close,
            Deed::Respond { .. } => ActName::Respond,
        }
    }

    /// The method of its HTTP request.
    pub fn method(&self) -> &'static str {
        match self.deed {
            Deed::Listen { .. } => "GET",
            Deed::Close => "DELETE",
            Deed::Respond { .. } => "POST",
        }
    }

    /// The session's id, as the tool server gave it.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The event behind which the stream is to go on.
    pub fn last_event_id(&self) -> Option<&str> {
        match &self.deed {
            Deed::Listen { last_event_id } => last_event_id.as_deref(),
            Deed::Close | Deed::Respond { .. } => None,
        }
    }

    /// What the proof covers: the act's name as the tool, what it is done to as the arguments, no further params.
    pub fn asked(&self) -> Result<Asked, CanonicalError> {
        let mut arguments = vec![Member::new("session", text(&self.session))];
        match &self.deed {
            Deed::Listen { last_event_id } => {
                let last = last_event_id.iter().map(|id| Member::new("last_event_id", text(id)));
                arguments.extend(last);
            }
            Deed::Close => {}
            Deed::Respond { id, body } => {
                arguments.push(Member::new("id", id.to_json()));
                arguments.push(Member::new("body", text(&URL_SAFE_NO_PAD.encode(body))));
            }
        }
        let params = params_digest(self.name().as_str(), &Json::Object(Vec::new()))?;
        Ok(Asked { tool: self.name().as_str().to_owned(), arguments: Json::Object(arguments), params })
    }

    /// What the holder of a Tenuo warrant signs.
    pub fn tenuo_message(
        &self,
        warrant_id: &[u8; 16],
        audience: &Audience,
        fresh: &FreshProof,
    ) -> Result<Vec<u8>, ActProofFault> {
        Ok(message_named(warrant_id, self.name().as_str(), &self.asked()?, audience, fresh)?)
    }

    /// What the holder of a Biscuit signs ([`Draft::signing_input`]).
    pub fn dpop_input(
        &self,
        holder: &PublicKey,
        token_text: &str,
        audience: &Audience,
        jti: &str,
        issued_at: UnixTime,
    ) -> Result<String, ActProofFault> {
        let asked = self.asked()?;
        let draft = Draft { holder, token_text, asked: &asked, audience, jti, issued_at };
        Ok(draft.signing_input_of(self.method())?)
    }
}

/// Why no proof of an act can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActProofFault {
    /// It has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
    /// It has no form that Tenuo signs.
    #[error(transparent)]
    Tenuo(#[from] TenuoProofFault),
}

impl RequestId {
    /// The id that this value of JSON is, if it is one.
    pub fn from_json(value: Json) -> Option<RequestId> {
        match value {
            Json::Number(number) => Some(RequestId::Number(number)),
            Json::String(id) => Some(RequestId::Text(id)),
            _ => None,
        }
    }

    /// The id as a value of JSON.
    pub fn to_json(&self) -> Json {
        match self {
            RequestId::Number(number) => Json::Number(number.clone()),
            RequestId::Text(id) => text(id),
        }
    }
}

impl fmt::Debug for Act {
    /// Its name alone: whoever knows the id of a session can speak in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Act({})", self.name().as_str())
    }
}

fn text(text: &str) -> Json {
    Json::String(text.to_owned())
}

#[cfg(test)]
mod tests {
    use pact_mandate::{Action, canonical};

    use super::*;

    fn acts() -> [Act; 4] {
        [
            Act::listen("s1", None),
            Act::listen("s1", Some("e7".to_owned())),
            Act::close("s1"),
            Act::respond("s1", RequestId::Number(Number::from_u64(7)), b"{}"),
        ]
    }

    #[test]
    fn m4_no_act_has_the_name_of_an_action() {
        for act in acts() {
            assert!(act.name().as_str().parse::<Action>().is_err(), "{act:?}");
        }
    }

    #[test]
    fn m4_the_arguments_of_an_act_say_all_that_it_does() {
        let said = acts().map(|act| {
            let mut bytes = Vec::new();
            canonical::write(&act.asked().unwrap().arguments, &mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        });
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(b"{}"));
        assert_eq!(
            said,
            [
                r#"{"session":"s1"}"#.to_owned(),
                r#"{"last_event_id":"e7","session":"s1"}"#.to_owned(),
                r#"{"session":"s1"}"#.to_owned(),
                format!(r#"{{"body":"{digest}","id":7,"session":"s1"}}"#),
            ]
        );
        assert!(!format!("{:?}", acts()).contains("s1"));
    }
}
