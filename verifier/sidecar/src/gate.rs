//! One request's way from the wire to the tool server: bounded, parsed once, judged, forwarded; or refused.

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response, header};
use http_body::Body;
use pact_mandate::{Json, Now};
use pact_verifier::{
    Presented, PresentedProof, Refusal, Verifier, carriage, permit::Standing, presented::UnverifiedHint,
};
use tokio::sync::Semaphore;

use crate::{
    answer::AnswerBody,
    clock::Clock,
    config::{Bounds, ToolsList},
    fault::Fault,
    header::DPOP,
    keys::KeyBook,
    lifeline::Lifeline,
    lists::ListBook,
    mcp::{Asks, Message, RpcId, ToolCall, agreement},
    metrics::{Metrics, Passed},
    panic::caught,
    passage::Passage,
    receipts::{Account, Receipts},
    receive::{Received, receive},
    request_id::{RequestId, RequestIds},
    respond,
    sampler::Sampler,
    upstream::Upstream,
    watchers::Died,
};

/// Refusals of credentials whose root nobody has.
const UNKNOWN_ROOT: [&str; 2] = ["tenuo_untrusted_root", "biscuit_unknown_root"];

/// What the traffic port judges by. The verifier is swapped whole when trust or policy changes.
pub(crate) struct Gate {
    pub(crate) clock: Clock,
    pub(crate) path: String,
    /// The only one from which a browser's page may call.
    pub(crate) origin: String,
    pub(crate) bounds: Bounds,
    pub(crate) tools_list: ToolsList,
    pub(crate) verifier: ArcSwap<Verifier>,
    pub(crate) lists: Arc<ListBook>,
    pub(crate) keys: Arc<KeyBook>,
    pub(crate) upstream: Upstream,
    pub(crate) metrics: Metrics,
    pub(crate) ids: RequestIds,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) sampler: Sampler,
    pub(crate) receipts: Receipts,
    pub(crate) died: Died,
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
        let answered = caught(self.serve(request, request_id, &mut account)).await;
        let turned = match answered {
            Ok(Ok(response)) => return response,
            Ok(Err(turned)) => turned,
            Err(_) => Turned::from(Fault::Internal),
        };
        self.tell(&turned.fault, request_id, &account);
        respond::refusal(&turned.fault, turned.id.as_ref(), request_id)
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
        let place = Arc::clone(&self.requests).try_acquire_owned();
        let place = place.map_err(|_| Fault::Overloaded { limit: self.bounds.requests })?;
        let Received { headers, body } = receive(request, &self.path, &self.origin, &self.bounds).await?;
        let message = Message::parse(body)?;
        let id = message.id().cloned();
        let turned = |fault| Turned { fault, id: id.clone() };
        let passage = self.judge(message, &headers, request_id, account).map_err(turned)?;
        let lifeline = Lifeline::new(Arc::clone(self), passage.standing(), request_id, place);
        let started = self.clock.now().monotonic;
        let answer = self.upstream.forward(passage, &headers, lifeline, request_id).await.map_err(turned)?;
        self.metrics.answered_in(self.clock.now().monotonic.since(started));
        Ok(answer)
    }

    /// What the message may do: go through because its method is open, or because the ladder of trust permits it.
    ///
    /// This runs on the server's own threads: it is a fraction of a millisecond of arithmetic and two `write`s into
    /// the page cache, and the number of requests in work is bounded. Handing it to other threads costs as much as it saves.
    fn judge(
        &self,
        message: Message,
        headers: &HeaderMap,
        request_id: RequestId,
        account: &mut Account,
    ) -> Result<Passage, Fault> {
        // Again: the body may have been long in coming.
        self.died.check()?;
        agreement::check(headers, &message)?;
        let call = match message.asks(self.tools_list)? {
            Asks::Tool(call) => call,
            Asks::Open(open) => {
                self.metrics.passed(Passed::Open);
                return Ok(Passage::open(open));
            }
        };
        // Before anything is judged: a call that is refused for want of a receipt uses up no proof.
        self.receipts.check()?;
        let now = self.clock.now();
        let admitted = self.admit(call, headers, now, account);
        self.metrics.judged_in(self.clock.now().monotonic.since(now.monotonic));
        let passage = admitted?;
        if let Some(permit) = passage.permit() {
            self.receipts.permit(self, permit, account, request_id, now)?;
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
        Ok(passage)
    }

    fn admit(
        &self,
        call: ToolCall,
        headers: &HeaderMap,
        now: Now,
        account: &mut Account,
    ) -> Result<Passage, Fault> {
        let (presented, proof) = read_carriage(call.message().params(), headers)?;
        let hint = presented.unverified_hint();
        let (verifier, lists) = (self.verifier.load(), self.lists.lists());
        account.note_presented(hint, &verifier);
        let admitted = Passage::judge(call, presented, &proof, &verifier, &lists, now, account);
        if let Err(Fault::Refused(refusal)) = &admitted {
            self.ask_for_keys(refusal, hint, now);
        }
        admitted
    }

    /// K4: a root that nobody has may be newer than what was fetched.
    fn ask_for_keys(&self, refusal: &Refusal, hint: UnverifiedHint, now: Now) {
        if UNKNOWN_ROOT.contains(&refusal.code()) {
            self.keys.missed(hint, now.monotonic);
        }
    }

    /// Whether an answer that is still open may stay so (protocol R9).
    pub(crate) fn still_permits(&self, standing: &Standing) -> Result<(), Fault> {
        let lists = self.lists.lists();
        Ok(self.verifier.load().still_permits(standing, &lists, self.clock.now())?)
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

fn read_carriage(params: Option<&Json>, headers: &HeaderMap) -> Result<(Presented, PresentedProof), Refusal> {
    let values =
        |name: &HeaderName| headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect::<Vec<_>>();
    let (authorization, dpop) = (values(&header::AUTHORIZATION), values(&DPOP));
    let (warrant, pop) = (values(&crate::header::TENUO_WARRANT), values(&crate::header::TENUO_POP));
    let carriers = carriage::Headers {
        authorization: &authorization,
        dpop: &dpop,
        tenuo_warrant: &warrant,
        tenuo_pop: &pop,
    };
    carriage::read(params, carriers)
}
