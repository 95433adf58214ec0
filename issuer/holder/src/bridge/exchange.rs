//! One message there and its answer back: JSON or a stream of events, each message of it on a line of its own.

use std::time::Duration;

use reqwest::{Response, header};

use super::{
    Relay,
    answer::{ServerKind, ServerMessage, SidecarError},
    events::Events,
    message::Id,
    refused::Refused,
    upstream::retry_after,
};
use crate::limits::MAX_ANSWER_BYTES;

/// The answer to a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// To be written as it is.
    Line(ServerMessage, Manner),
    /// The sidecar said no, or nothing that could be an answer came.
    Refused(Refused),
}

/// How a server gave its answer; over local HTTP it is given the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) status: u16,
    /// As an event of a stream, not as a whole body.
    pub(crate) streamed: bool,
}

impl Manner {
    /// As the bridge itself answers.
    pub(crate) const PLAIN: Manner = Manner { status: 200, streamed: false };
}

/// What tells a sidecar's refusal from the error of a tool server that looks like one.
enum Mark {
    /// The sidecar's header, which it lets no tool server set: the code of its refusal, if it is one.
    Head(Option<String>),
    /// An event has no header of its own. It ends a call that was let through, and nothing is done again for its sake.
    Event,
}

impl Mark {
    fn of(response: &Response) -> Mark {
        let code = response.headers().get("pact-refusal").and_then(|value| value.to_str().ok());
        Mark::Head(code.map(ToOwned::to_owned))
    }

    /// The error of a refusal, if it is one.
    fn read(&self, error: &str) -> Option<SidecarError> {
        SidecarError::read(error).filter(|error| match self {
            Mark::Head(code) => code.as_ref() == Some(&error.reason),
            Mark::Event => true,
        })
    }
}

/// Reads the answer to the request `id`. Other messages of that server that come before it go to the client as they come.
pub(super) async fn read(response: Response, id: &Id, idle: Duration, relay: &Relay, at: usize) -> Answer {
    let status = response.status();
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let is = |wanted: &str| content_type.eq_ignore_ascii_case(wanted);
    let answered = if is("text/event-stream") && status.is_success() {
        stream(response, id, idle, relay, at).await
    } else if is("application/json") {
        whole(response, id, idle).await
    } else {
        let message = format!("the server answered {} without a message", status.as_u16());
        Err(Refused::here("no_answer", message))
    };
    answered.unwrap_or_else(Answer::Refused)
}

async fn whole(response: Response, id: &Id, idle: Duration) -> Result<Answer, Refused> {
    let (status, later) = (response.status().as_u16(), retry_after(&response));
    let mark = Mark::of(&response);
    let body = body(response, idle).await?;
    let message = ServerMessage::parse(body).map_err(|_| no_message())?;
    judge(message, id, Manner { status, streamed: false }, &mark, later)?.ok_or_else(no_message)
}

async fn stream(
    mut response: Response,
    id: &Id,
    idle: Duration,
    relay: &Relay,
    at: usize,
) -> Result<Answer, Refused> {
    let manner = Manner { status: response.status().as_u16(), streamed: true };
    let mut events = Events::default();
    while let Some(chunk) = chunk(&mut response, idle).await? {
        for data in events.feed(&chunk).map_err(|_| too_large())? {
            let message = ServerMessage::parse(data).map_err(|_| no_message())?;
            match message.kind() {
                ServerKind::Response { .. } => {
                    if let Some(answer) = judge(message, id, manner, &Mark::Event, None)? {
                        return Ok(answer);
                    }
                    tracing::warn!("a server answered a request that was not made here; left out");
                }
                ServerKind::Request(_) | ServerKind::Notification => relay.beside(at, message).await,
            }
        }
    }
    Err(Refused::here("answer_broken", "the stream of the answer ended before the answer"))
}

/// Whether this is the answer that is waited for: its own id, or an error without one.
fn judge(
    message: ServerMessage,
    id: &Id,
    manner: Manner,
    mark: &Mark,
    later: Option<u64>,
) -> Result<Option<Answer>, Refused> {
    let status = manner.status;
    let ServerKind::Response { id: theirs, error } = message.kind() else { return Ok(None) };
    if theirs.as_ref().is_some_and(|theirs| theirs != id) {
        return Ok(None);
    }
    match error {
        None if status < 400 => Ok(Some(Answer::Line(message, manner))),
        None => Err(Refused::here("no_answer", format!("the server answered {status} with a result"))),
        Some(error) => match mark.read(error) {
            Some(error) => Ok(Some(Answer::Refused(Refused::there(error, status, later)))),
            None if theirs.is_some() => Ok(Some(Answer::Line(message, manner))),
            None => {
                let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
                let message = ServerMessage::parse(line.into_bytes()).map_err(|_| no_message())?;
                Ok(Some(Answer::Line(message, manner)))
            }
        },
    }
}

/// Why a server did not take what has no answer.
pub(super) async fn refusal(response: Response, idle: Duration) -> Refused {
    let (status, later) = (response.status().as_u16(), retry_after(&response));
    let mark = Mark::of(&response);
    let said = body(response, idle).await.ok().and_then(|body| ServerMessage::parse(body).ok());
    let error = said.as_ref().and_then(|message| match message.kind() {
        ServerKind::Response { error: Some(error), .. } => mark.read(error),
        _ => None,
    });
    match error {
        Some(error) => Refused::there(error, status, later),
        None => Refused::not_taken(status),
    }
}

async fn body(mut response: Response, idle: Duration) -> Result<Vec<u8>, Refused> {
    let mut bytes = Vec::new();
    while let Some(chunk) = chunk(&mut response, idle).await? {
        if bytes.len().saturating_add(chunk.len()) > MAX_ANSWER_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn chunk(response: &mut Response, idle: Duration) -> Result<Option<Vec<u8>>, Refused> {
    match tokio::time::timeout(idle, response.chunk()).await {
        Err(_) => Err(Refused::here("answer_idle", format!("the answer paused for longer than {idle:?}"))),
        Ok(Err(_)) => Err(Refused::here("answer_broken", "the answer broke off")),
        Ok(Ok(chunk)) => Ok(chunk.map(|chunk| chunk.to_vec())),
    }
}

fn no_message() -> Refused {
    Refused::here("answer_not_mcp", "what the server answered is not the answer to this request")
}

fn too_large() -> Refused {
    Refused::here("answer_too_large", format!("the answer is longer than {MAX_ANSWER_BYTES} bytes"))
}
