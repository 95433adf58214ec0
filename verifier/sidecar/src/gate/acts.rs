//! Acts on sessions (protocol M4): GET, DELETE, and answers to what the tool server asked. Each needs a proof by the key that
//! owns the session; nothing flows before it.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use pact_verifier::Act;
use tokio::sync::OwnedSemaphorePermit;

use super::{Gate, read_carriage};
use crate::{
    answer::AnswerBody,
    fault::{Fault, ShapeFault},
    header::{self, LAST_EVENT_ID, SESSION},
    lifeline::Lifeline,
    limits::MAX_EVENT_ID_BYTES,
    mcp::{ClientResponse, Message, RpcId, era::Era, revisions::Revisions},
    metrics::Passed,
    panic::caught,
    passage::Deed,
    receipts::Account,
    request_id::RequestId,
    session::{Leg, SessionFault, SessionId},
    trace_context,
};

/// What a request without a message, or with a response, wants.
pub(super) enum Wants {
    Listen,
    Close,
    Respond(ClientResponse),
}

impl Wants {
    pub(super) fn of(method: &Method) -> Wants {
        // Nothing but POST, GET and DELETE comes so far.
        if *method == Method::DELETE { Wants::Close } else { Wants::Listen }
    }

    fn answered(&self) -> Option<&RpcId> {
        match self {
            Wants::Respond(response) => Some(response.id()),
            Wants::Listen | Wants::Close => None,
        }
    }

    /// The act in words, and the bytes that do it.
    fn into_act(self, session: &SessionId, headers: &HeaderMap) -> Result<(Act, Bytes), ShapeFault> {
        let session = session.as_str();
        Ok(match self {
            Wants::Listen => (Act::listen(session, last_event_id(headers)?), Bytes::new()),
            Wants::Close => (Act::close(session), Bytes::new()),
            Wants::Respond(response) => {
                let body = response.body().clone();
                (Act::respond(session, response.id().into(), &body), body)
            }
        })
    }
}

impl Gate {
    /// The session that a message goes into. One of the newer protocol has none, whatever its headers say.
    pub(super) fn leg(&self, message: &Message, headers: &HeaderMap) -> Result<Leg, Fault> {
        let era = Era::of(headers, message, &self.revisions)?;
        if !era.has_sessions() {
            return Ok(Leg::Alone);
        }
        let now = self.clock.now().monotonic;
        match (header::single(headers, &SESSION, "Mcp-Session-Id")?, message.method()) {
            (None, "initialize") => {
                self.sessions.has_room(now)?;
                Ok(Leg::Begins)
            }
            (None, _) => Ok(Leg::Alone),
            (Some(_), "initialize") => Err(SessionFault::NotExpected.into()),
            (Some(text), _) => {
                let session = SessionId::parse(text).ok_or(SessionFault::Unknown)?;
                self.sessions.check(&session, now)?;
                Ok(Leg::In(session))
            }
        }
    }

    /// Judges an act, and does it.
    pub(super) async fn act(
        self: &Arc<Self>,
        wants: Wants,
        headers: &HeaderMap,
        place: OwnedSemaphorePermit,
        request_id: RequestId,
        account: &mut Account,
    ) -> Result<Response<AnswerBody>, Fault> {
        self.died.check()?;
        let answered = wants.answered().cloned();
        let (session, deed) = self.judge_act(wants, headers, request_id, account)?;
        self.metrics.passed(Passed::Act);
        tracing::debug!(%request_id, decision = "permit", act = deed.name(), "an act on a session was permitted");
        let lifeline = Lifeline::new(Arc::clone(self), Some(deed.standing()), request_id, place);
        let done = caught(pin!(self.upstream.act(deed, headers, lifeline, request_id))).await;
        let done = done.unwrap_or(Err(Fault::InternalForwarded));
        if let (Err(_), Some(request)) = (&done, answered) {
            self.sessions.visit(&session).give_back(request);
        }
        done
    }

    fn judge_act(
        &self,
        wants: Wants,
        headers: &HeaderMap,
        request_id: RequestId,
        account: &mut Account,
    ) -> Result<(SessionId, Deed), Fault> {
        let session = act_session(&wants, headers, &self.revisions)?;
        account.note_trace(trace_context::trace(headers, None));
        // Before anything is judged, as with calls.
        self.receipts.check()?;
        let now = self.clock.now();
        // What needs no key is asked first: nobody's proof is used up by it.
        match wants.answered() {
            Some(request) => self.sessions.has_request(&session, request, now.monotonic)?,
            None => self.sessions.check(&session, now.monotonic)?,
        }
        let answered = wants.answered().cloned();
        let (act, body) = wants.into_act(&session, headers)?;
        account.note_act(act.name());
        let (presented, proof) = read_carriage(None, headers)?;
        let hint = presented.unverified_hint();
        let (rules, lists) = (self.rules.load(), self.lists.lists());
        account.note_presented(hint, &rules.verifier);
        let admitted = rules.verifier.admit_act(presented, &proof, act, &lists, now).map_err(|refused| {
            let fault = Fault::from(account.note_refused(refused));
            if fault.is_unknown_root() {
                rules.keys.missed(hint, now.monotonic);
            }
            rules.keys.blame(fault, now.monotonic)
        });
        self.metrics.judged_in(self.clock.now().monotonic.since(now.monotonic));
        let permit = admitted?;
        let holder = permit.proven_by();
        let owned = match &answered {
            Some(request) => self.sessions.take_request(&session, &holder, request, now.monotonic),
            None => self.sessions.owned_by(&session, &holder, now.monotonic),
        };
        owned.inspect_err(|_| account.note_known(permit.known()))?;
        let written = self.receipts.permit(self, || permit.known(), account, request_id, now);
        if let (Err(_), Some(request)) = (&written, answered) {
            self.sessions.visit(&session).give_back(request);
        }
        written?;
        Ok((session.clone(), Deed::new(permit, session, body)))
    }
}

/// The session that an act names. The newer protocol has neither sessions nor acts.
fn act_session(wants: &Wants, headers: &HeaderMap, served: &Revisions) -> Result<SessionId, Fault> {
    let is_response = matches!(wants, Wants::Respond(_));
    let none = if is_response { ShapeFault::ResponseNotExpected } else { ShapeFault::MethodNotAllowed };
    if !Era::of_headers(headers, served)?.has_sessions() {
        return Err(none.into());
    }
    let session = header::single(headers, &SESSION, "Mcp-Session-Id")?.ok_or(none)?;
    Ok(SessionId::parse(session).ok_or(SessionFault::Unknown)?)
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, ShapeFault> {
    let id = header::single(headers, &LAST_EVENT_ID, "Last-Event-ID")?;
    match id {
        Some(id) if id.len() > MAX_EVENT_ID_BYTES => Err(ShapeFault::HeaderNotText { name: "Last-Event-ID" }),
        id => Ok(id.map(str::to_owned)),
    }
}
