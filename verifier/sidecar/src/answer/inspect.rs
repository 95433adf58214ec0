//! What the tool server says in an answer, judged as it passes (protocol M4): it answers what was asked and nothing else, and
//! what it asks itself is remembered, so that only that can be answered.

use super::{
    events::{Events, Said},
    skim::{Kind, Skim},
};
use crate::{fault::UpstreamFault, mcp::RpcId, session::Visit};

/// What an answer may say.
pub(crate) struct Expected {
    /// The session that it belongs to, where there is one.
    pub(crate) visit: Option<Visit>,
    pub(crate) reply: Reply,
}

/// Which responses may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// One, to the request of this id; `None` is a message that has no answer.
    To(Option<RpcId>),
    /// Those to earlier requests of the same session: a stream that is taken up again.
    Earlier,
}

/// How the answer is read along.
pub(crate) enum Inspect {
    /// An event stream.
    Events(Events, Expected),
    /// One message of JSON. The page of an error may be any JSON: no client takes it for a message if it is none.
    Json { skim: Skim, expected: Expected, is_error: bool },
    /// Nothing that a client takes for a message.
    Opaque,
}

/// Where an answer must end, and why: so many of the bytes may still pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) at: usize,
    pub(crate) fault: UpstreamFault,
}

impl Expected {
    fn judge(&mut self, kind: Kind) -> Result<(), UpstreamFault> {
        match (kind, &mut self.reply) {
            (Kind::Request(id), _) => match &self.visit {
                Some(visit) => visit.note_request(id),
                None => Ok(()),
            },
            (Kind::Other | Kind::Response(None), _) | (Kind::Response(Some(_)), Reply::Earlier) => Ok(()),
            (Kind::Response(Some(id)), Reply::To(asked)) if asked.as_ref() == Some(&id) => {
                // There is no second answer.
                *asked = None;
                Ok(())
            }
            (Kind::Response(Some(_)), Reply::To(_)) => Err(UpstreamFault::WrongId),
        }
    }

    fn judge_said(&mut self, said: Said) -> Result<(), UpstreamFault> {
        match said {
            Said::Message(kind) => self.judge(kind),
            Said::Malformed => Err(UpstreamFault::Malformed),
            Said::Nothing => Ok(()),
        }
    }
}

impl Inspect {
    /// Reads bytes that are about to pass. What must not take effect ends by its last byte, which is held back.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self {
            Inspect::Opaque => Ok(()),
            Inspect::Events(events, expected) => {
                let mut from = 0;
                while let Some(event) = events.take(bytes.get(from..).unwrap_or_default()) {
                    from += event.end;
                    if let Err(fault) = expected.judge_said(event.said) {
                        events.hold_back();
                        return Err(Stop { at: from.saturating_sub(1), fault });
                    }
                }
                Ok(())
            }
            Inspect::Json { skim, expected, is_error } => match skim.take(bytes) {
                None if skim.is_broken() && !*is_error => {
                    Err(Stop { at: 0, fault: UpstreamFault::Malformed })
                }
                None => Ok(()),
                Some(end) => {
                    let said = match skim.finish() {
                        Ok(kind) => kind.map_or(Said::Nothing, Said::Message),
                        Err(_) => Said::Malformed,
                    };
                    expected.judge_said(said).map_err(|fault| Stop { at: end.saturating_sub(1), fault })
                }
            },
        }
    }

    /// The events, where it is a stream of them.
    pub(crate) fn events(&self) -> Option<&Events> {
        match self {
            Inspect::Events(events, _) => Some(events),
            Inspect::Json { .. } | Inspect::Opaque => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pact_mandate::json::Number;

    use super::*;

    fn number(number: u64) -> RpcId {
        RpcId::Number(Number::from_u64(number))
    }

    fn expected(reply: Reply) -> Expected {
        Expected { visit: None, reply }
    }

    fn events(reply: Reply, text: &str) -> Result<(), Stop> {
        Inspect::Events(Events::default(), expected(reply)).take(text.as_bytes())
    }

    #[test]
    fn attack_64_a_stream_answers_what_was_asked_once_and_nothing_else() {
        let asked = || Reply::To(Some(number(1)));
        let progress = "data: {\"method\":\"notifications/progress\"}\n\n";
        let answer = "data: {\"id\":1,\"result\":{}}\n\n";
        assert_eq!(events(asked(), &format!("{progress}{answer}{progress}")), Ok(()));
        assert_eq!(events(asked(), "data: {\"id\":null,\"error\":{}}\n\n"), Ok(()));
        for wrong in ["{\"id\":2,\"result\":{}}", "{\"id\":\"1\",\"result\":{}}", "{\"id\":2,\"error\":{}}"] {
            let text = format!("{progress}data: {wrong}\n\n");
            let stop = Stop { at: text.len() - 1, fault: UpstreamFault::WrongId };
            assert_eq!(events(asked(), &text), Err(stop));
            assert!(events(Reply::To(None), &text).is_err());
            assert_eq!(events(Reply::Earlier, &text), Ok(()));
        }
        let twice = Stop { at: answer.len() * 2 - 1, fault: UpstreamFault::WrongId };
        assert_eq!(events(asked(), &format!("{answer}{answer}")), Err(twice));
        let mut inspect = Inspect::Events(Events::default(), expected(asked()));
        assert!(inspect.take(b"data: {\"id\":2,\"result\":{}}\n\n").is_err());
        let last = inspect.events().unwrap().last_event("{}");
        assert_eq!(last, "event: cut\n\nevent: message\ndata: {}\n\n", "the held back event has no effect");
        let batch = "data: [{\"id\":1,\"result\":{}}]\n\n";
        assert_eq!(events(asked(), batch).unwrap_err().fault, UpstreamFault::Malformed);
    }

    #[test]
    fn attack_64_an_answer_of_json_that_answers_another_request_never_ends() {
        let json = |is_error| Inspect::Json {
            skim: Skim::default(),
            expected: expected(Reply::To(Some(number(1)))),
            is_error,
        };
        let mut inspect = json(false);
        assert_eq!(inspect.take(b"{\"id\":2,"), Ok(()));
        let stop = Stop { at: 11, fault: UpstreamFault::WrongId };
        assert_eq!(inspect.take(b"\"result\":{}}\n"), Err(stop));
        assert_eq!(json(false).take(b"{\"id\":1,\"result\":{}}\n"), Ok(()));
        let malformed = Stop { at: 0, fault: UpstreamFault::Malformed };
        assert_eq!(json(false).take(b"[{\"id\":1,\"result\":{}}]"), Err(malformed));
        assert_eq!(json(true).take(b"[\"no such page\"]"), Ok(()));
    }
}
