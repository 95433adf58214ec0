//! One request's way from the wire to the tool server: bounded, parsed once, judged, forwarded; or refused.

use std::{
    pin::pin,
    sync::{Arc, atomic::AtomicBool},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, Response, header};
use http_body::Body;
use pact_mandate::{Json, Now};
use pact_verifier::{Presented, PresentedProof, Refusal, carriage, permit::Standing};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    answer::AnswerBody,
    clock::Clock,
    config::Bounds,
    definitions::Definitions,
    fault::Fault,
    header::DPOP,
    hosts::Hosts,
    lifeline::Lifeline,
    lists::ListBook,
    mcp::{Asks, Incoming, Message, ParamHeaders, RpcId, ToolCall, agreement, revisions::Revisions},
    metadata::ResourceMetadata,
    metrics::{Metrics, Passed},
    panic::caught,
    passage::Passage,
    receipts::{Account, Receipts},
    receive::{Received, receive},
    reload::LastChange,
    replay::SharedReplay,
    request_id::{RequestId, RequestIds},
    respond,
    rules::Rules,
    sampler::Sampler,
    session::{Leg, SessionBook},
    tools_list::Onlooker,
    trace_context,
    upstream::Upstream,
    watchers::Died,
};

mod acts;

use acts::Wants;

/// What the traffic port judges by. The rules are swapped whole when trust or policy changes.
pub(crate) struct Gate {
    pub(crate) clock: Clock,
    pub(crate) path: String,
    pub(crate) hosts: Hosts,
    pub(crate) metadata: ResourceMetadata,
    /// The only one from which a browser's page may call.
    pub(crate) origin: String,
    pub(crate) bounds: Bounds,
    pub(crate) rules: ArcSwap<Rules>,
    pub(crate) lists: Arc<ListBook>,
    pub(crate) last_change: LastChange,
    /// The record of used proofs, where replicas share one.
    pub(crate) shared: Option<Arc<SharedReplay>>,
    pub(crate) upstream: Upstream,
    /// What the tool server speaks.
    pub(crate) revisions: Revisions,
    pub(crate) sessions: Arc<SessionBook>,
    pub(crate) metrics: Metrics,
    pub(crate) ids: RequestIds,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) sampler: Sampler,
    pub(crate) definitions: Definitions,
    pub(crate) receipts: Receipts,
    pub(crate) died: Died,
    /// Whether it was told to stop.
    pub(crate) stopping: AtomicBool,
}

/// A message that may be forwarded.
struct Cleared {
    passage: Passage,
    /// Whose part of the answer is shown, where it is a list of tools.
    onlooker: Option<Onlooker>,
    /// Where in which session it stands.
    leg: Leg,
    /// What else of its headers may go on.
    params: ParamHeaders,
}

/// A request that was turned away, and the id under which its caller waits.
struct Turned {
    fault: Fault,
    id: Option<RpcId>,
}

impl<F: Into<Fault>> From<F> for Turned {
    fn from(fault: F) -> Turned {
        Turned { fault: fault.into(), id: None }
    }
}

impl Gate {
    /// Answers a request, whatever it is.
    pub(crate) async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<AnswerBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request_id = self.ids.next();
        let mut account = self.receipts.account();
        let answered = caught(pin!(self.serve(request, request_id, &mut account))).await;
        let turned = match answered {
            Ok(Ok(response)) => return response,
            Ok(Err(turned)) => turned,
            Err(_) => Turned::from(Fault::Internal),
        };
        self.tell(&turned.fault, request_id, &account);
        respond::refusal(&turned.fault, turned.id.as_ref(), request_id, self.metadata.url())
    }

    async fn serve<B>(
        self: &Arc<Self>,
        request: Request<B>,
        request_id: RequestId,
        account: &mut Account,
    ) -> Result<Response<AnswerBody>, Turned>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.died.check()?;
        self.hosts.check(request.headers())?;
        if let Some(metadata) = self.metadata.answer(&request, self.takes_bearers()) {
            return Ok(metadata);
        }
        let place = Arc::clone(&self.requests).try_acquire_owned();
        let place = place.map_err(|_| Fault::Overloaded { limit: self.bounds.requests })?;
        let Received { method, headers, body } =
            receive(request, &self.path, &self.origin, &self.bounds).await?;
        if method != Method::POST {
            return Ok(self.act(Wants::of(&method), &headers, place, request_id, account).await?);
        }
        match Incoming::parse(body)? {
            Incoming::Message(message) => self.pass(message, &headers, place, request_id, account).await,
            Incoming::Response(response) => {
                Ok(self.act(Wants::Respond(response), &headers, place, request_id, account).await?)
            }
        }
    }

    /// Judges a message, and forwards it.
    async fn pass(
        self: &Arc<Self>,
        message: Message,
        headers: &HeaderMap,
        place: OwnedSemaphorePermit,
        request_id: RequestId,
        account: &mut Account,
    ) -> Result<Response<AnswerBody>, Turned> {
        account.note_trace(trace_context::trace(headers, message.params()));
        // Once: no part of the judgement is by other rules than the rest.
        let rules = self.rules.load_full();
        let id = message.id().cloned();
        let turned = |fault| Turned { fault, id: id.clone() };
        let Cleared { passage, onlooker, leg, params } =
            self.judge(message, headers, &rules, request_id, account).map_err(turned)?;
        if let Some(Onlooker::Nobody) = onlooker {
            return Ok(Gate::shown_nothing(id.as_ref()));
        }
        let lifeline = Lifeline::new(Arc::clone(self), passage.standing(), request_id, place);
        let started = self.clock.now().monotonic;
        // In a box: it is the larger part of a future that the HTTP server moves about.
        let mut forwarding =
            Box::pin(self.upstream.forward(passage, leg, headers, params, lifeline, request_id));
        let forwarded = caught(forwarding.as_mut()).await;
        let answer = forwarded.unwrap_or(Err(Fault::InternalForwarded)).map_err(turned)?;
        self.metrics.answered_in(self.clock.now().monotonic.since(started));
        match onlooker {
            None => Ok(answer),
            Some(onlooker) => self.shown(onlooker, answer, id.clone()).await.map_err(turned),
        }
    }

    fn takes_bearers(&self) -> bool {
        self.rules.load().verifier.trust().issuers().iter().any(|issuer| issuer.bearer)
    }

    /// What the message may do: go through because its method is open, or because the ladder of trust permits it.
    ///
    /// This runs on the server's own threads: it is a fraction of a millisecond of arithmetic and two `write`s into
    /// the page cache, and the number of requests in work is bounded. Handing it to other threads costs as much as it saves.
    fn judge(
        &self,
        message: Message,
        headers: &HeaderMap,
        rules: &Rules,
        request_id: RequestId,
        account: &mut Account,
    ) -> Result<Cleared, Fault> {
        // Again: the body may have been long in coming.
        self.died.check()?;
        agreement::check(headers, &message)?;
        let params = self.definitions.agree(headers, &message)?;
        let leg = self.leg(&message, headers)?;
        let asks = message.asks(rules.verifier.policy())?;
        let call = match asks {
            Asks::Tool(call) => call,
            Asks::Open(open) => {
                self.metrics.passed(Passed::Open);
                return Ok(Cleared { passage: Passage::open(open), onlooker: None, leg, params });
            }
            Asks::List(list) => {
                let onlooker = Some(self.onlooker(list.message(), headers, rules)?);
                self.metrics.passed(Passed::Open);
                return Ok(Cleared { passage: Passage::list(list), onlooker, leg, params });
            }
        };
        self.definitions.check(&call, rules.verifier.policy())?;
        // Before anything is judged: a call that is refused for want of a receipt uses up no proof.
        self.receipts.check()?;
        let now = self.clock.now();
        let admitted = self.admit(call, headers, rules, now, account);
        self.metrics.judged_in(self.clock.now().monotonic.since(now.monotonic));
        let passage = admitted?;
        if let (Some(permit), Some(session)) = (passage.permit(), leg.session()) {
            self.sessions
                .claim(session, permit.proven_by(), now.monotonic)
                .inspect_err(|_| account.note_known(permit.known()))?;
        }
        if let Some(permit) = passage.permit() {
            self.receipts.permit(self, || permit.known(), account, request_id, now)?;
            self.metrics.passed(Passed::Permitted);
            tracing::debug!(
                %request_id,
                decision = "permit",
                action = permit.call().judged.action.as_str(),
                issuer = %permit.chain().issuer(),
                list_version = %permit.list().version,
                "a call was permitted"
            );
        }
        Ok(Cleared { passage, onlooker: None, leg, params })
    }

    fn admit(
        &self,
        call: ToolCall,
        headers: &HeaderMap,
        rules: &Rules,
        now: Now,
        account: &mut Account,
    ) -> Result<Passage, Fault> {
        let (presented, proof) = read_carriage(call.message().params(), headers)?;
        let hint = presented.unverified_hint();
        let lists = self.lists.lists();
        account.note_presented(hint, &rules.verifier);
        Passage::judge(call, presented, &proof, &rules.verifier, &lists, now, account).map_err(|fault| {
            if fault.is_unknown_root() {
                // It may be newer than what was fetched.
                rules.keys.missed(hint, now.monotonic);
            }
            rules.keys.blame(fault, now.monotonic)
        })
    }

    /// Whether an answer that is still open may stay so (protocol R9).
    pub(crate) fn still_permits(&self, standing: &Standing) -> Result<(), Fault> {
        let (rules, lists, now) = (self.rules.load(), self.lists.lists(), self.clock.now());
        let permits = rules.verifier.still_permits(standing, &lists, now);
        permits.map_err(|refusal| rules.keys.blame(refusal.into(), now.monotonic))
    }

    /// Counts a refusal, and writes it to the log: in full from rung 1 on, sampled before (protocol M6). Its receipt is
    /// written by the same rule.
    fn tell(&self, fault: &Fault, request_id: RequestId, account: &Account) {
        self.receipts.refuse(self, fault, account, request_id);
        let (code, class) = (respond::code(fault), respond::class(fault));
        self.metrics.refused(code, class);
        if !respond::is_before_rung_one(fault) {
            tracing::info!(%request_id, decision = "refuse", code, class, %fault, "a request was refused");
        } else if let Some(left_out) = self.sampler.admit(self.clock.now()) {
            tracing::info!(%request_id, decision = "refuse", code, class, left_out, "a request was refused (sampled)");
        }
    }
}

/// The credential of a request, and its proof.
pub(crate) fn read_carriage(
    params: Option<&Json>,
    headers: &HeaderMap,
) -> Result<(Presented, PresentedProof), Refusal> {
    let values =
        |name: &HeaderName| headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect::<Vec<_>>();
    let (authorization, dpop) = (values(&header::AUTHORIZATION), values(&DPOP));
    let (warrant, pop) = (values(&crate::header::TENUO_WARRANT), values(&crate::header::TENUO_POP));
    let fresh = values(&crate::header::PACT_PROOF);
    let carriers = carriage::Headers {
        authorization: &authorization,
        dpop: &dpop,
        tenuo_warrant: &warrant,
        tenuo_pop: &pop,
        pact_proof: &fresh,
    };
    carriage::read(params, carriers)
}

#[cfg(test)]
mod tests {
    use hyper::body::Incoming;

    use super::*;

    /// The HTTP server moves it five times for each request.
    #[test]
    fn the_future_of_a_request_is_small() {
        fn size_of_returned<F>(_: fn(Arc<Gate>, Request<Incoming>) -> F) -> usize {
            size_of::<F>()
        }
        let size = size_of_returned(Gate::answer::<Incoming>);
        assert!(size <= 8 * 1024, "{size} bytes");
    }
}
