//! `tools/list`: every caller sees the tools that it could call, by the judgement that its calls meet.

use std::{cell::Cell, collections::BTreeSet, sync::Arc};

use http::{HeaderMap, HeaderValue, Response, header};
use http_body_util::{BodyExt, Full};
use pact_mandate::{Format, Json, json::Member};
use pact_verifier::{Presented, Refusal, Verifier, Viewer, carriage::CarriageFault};

use crate::{
    answer::AnswerBody,
    definitions::Listed,
    fault::{Fault, UpstreamFault},
    gate::{Gate, read_carriage},
    header::ACCEL_BUFFERING,
    mcp::{Message, RpcId},
    rules::Rules,
    upstream::is_event_stream,
};

pub(crate) mod collect;
mod definition;
mod events;
mod rebuild;

pub(crate) use definition::Definition;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) enum Onlooker {
    /// Somebody without a credential, where the policy lists nothing to strangers.
    Nobody,
    /// Somebody without a credential, where the policy lists everything that it maps.
    Stranger,
    /// Whoever has this credential. It was looked at before the list was asked for, and is again before it is shown.
    Bearer(Presented),
}

const JSON: &str = "application/json";
/// The list that nobody is shown a tool of. (MCP 2026-07-28 wants the last three members, older clients skip them.)
const EMPTY: &str = r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;

impl Gate {
    /// Who asks for a list; a credential that would not do for a call does not do here.
    pub(crate) fn onlooker(
        &self,
        message: &Message,
        headers: &HeaderMap,
        rules: &Rules,
    ) -> Result<Onlooker, Fault> {
        let presented = match read_carriage(message.params(), headers) {
            Ok((presented, _)) => presented,
            Err(Refusal::Carriage(CarriageFault::NoCredential)) => {
                let all = rules.verifier.policy().lists_to_strangers();
                return Ok(if all { Onlooker::Stranger } else { Onlooker::Nobody });
            }
            Err(refusal) => return Err(refusal.into()),
        };
        self.view(&presented, rules)?;
        Ok(Onlooker::Bearer(presented))
    }

    fn view(&self, presented: &Presented, rules: &Rules) -> Result<Viewer, Fault> {
        let (lists, now) = (self.lists.lists(), self.clock.now());
        rules.verifier.view(presented.clone(), &lists, now).map_err(|refusal| {
            let fault = Fault::from(refusal);
            if fault.is_unknown_root() {
                rules.keys.missed(presented.unverified_hint(), now.monotonic);
            }
            rules.keys.blame(fault, now.monotonic)
        })
    }

    /// What the onlooker sees of the tool server's answer. The whole of it is here before any of it goes on.
    pub(crate) async fn shown(
        self: &Arc<Self>,
        onlooker: Onlooker,
        answer: Response<AnswerBody>,
        id: Option<RpcId>,
    ) -> Result<Response<AnswerBody>, Fault> {
        let (head, mut body) = answer.into_parts();
        let text = collect::answer(&head.headers, &mut body, id.as_ref()).await?;
        let gate = Arc::clone(self);
        // A token's Datalog is run for each tool, which is too long for the threads that serve.
        let work = move || {
            let rules = gate.rules.load();
            let sight = Sight::of(&gate, &rules, &onlooker)?;
            let rebuilt = rebuild::list(&text, id.as_ref(), |name, tool| sight.hint(name, tool))?;
            sight.tell_if_empty();
            Ok::<_, Fault>(rebuilt)
        };
        let rebuilt = tokio::task::spawn_blocking(work).await.map_err(|_| Fault::Internal)??;
        // Until now it occupied its place among the requests in work.
        drop(body);
        // In the form in which the tool server gave it: some clients look for that.
        Ok(if is_event_stream(&head.headers) {
            response(head.status, "text/event-stream", event(&rebuilt))
        } else {
            response(head.status, JSON, rebuilt)
        })
    }

    /// The answer to whom nothing is shown. The tool server is not asked.
    pub(crate) fn shown_nothing(id: Option<&RpcId>) -> Response<AnswerBody> {
        let id = id.map_or_else(|| "null".to_owned(), RpcId::to_json);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{EMPTY}}}"#);
        response(http::StatusCode::OK, JSON, text.into_bytes())
    }
}

/// What decides for each tool whether it is shown.
struct Sight<'v> {
    gate: &'v Gate,
    verifier: &'v Verifier,
    /// `None`: every mapped tool is.
    viewer: Option<Viewer>,
    formats: BTreeSet<Format>,
    listed: Cell<usize>,
    mapped: Cell<usize>,
    shown: Cell<usize>,
}

impl<'v> Sight<'v> {
    fn of(gate: &'v Gate, rules: &'v Rules, onlooker: &Onlooker) -> Result<Sight<'v>, Fault> {
        let verifier = &rules.verifier;
        let viewer = match onlooker {
            Onlooker::Bearer(presented) => Some(gate.view(presented, rules)?),
            // A reload may have shut what was open when it asked.
            Onlooker::Stranger | Onlooker::Nobody if verifier.policy().lists_to_strangers() => None,
            Onlooker::Stranger | Onlooker::Nobody => {
                return Err(Refusal::Carriage(CarriageFault::NoCredential).into());
            }
        };
        let formats = verifier.trust().issuers().iter().flat_map(|issuer| issuer.speaks.formats.clone());
        Ok(Sight {
            gate,
            verifier,
            viewer,
            formats: formats.collect(),
            listed: Cell::default(),
            mapped: Cell::default(),
            shown: Cell::default(),
        })
    }

    /// What its holder must sign to call the tool (protocol M3); `None` when the tool is not shown.
    fn hint(&self, tool: &str, entry: &Json) -> Result<Option<Json>, Fault> {
        let policy = self.verifier.policy();
        count(&self.listed);
        let Some(action) = policy.action_of(tool) else { return Ok(None) };
        count(&self.mapped);
        let listed = Listed::of(entry).ok_or_else(|| unreadable("a tool is no object"))?;
        if !self.gate.definitions.shows(tool, listed, policy, &self.gate.metrics, self.gate.clock.now()) {
            return Ok(None);
        }
        if let Some(viewer) = &self.viewer
            && !viewer.sees(tool, policy)?
        {
            return Ok(None);
        }
        let text = |text: &str| Json::String(text.to_owned());
        let stock = policy.takes_stock_proofs() && action.as_str() == tool;
        let formats = self.formats.iter().map(|format| text(format.name())).collect();
        let mut members = vec![
            Member::new("tool", text(tool)),
            Member::new("action", text(action.as_str())),
            Member::new("formats", Json::Array(formats)),
            Member::new("stock_proofs", Json::Bool(stock)),
        ];
        members.extend(policy.project_of(tool).map(|source| Member::new("project", source)));
        count(&self.shown);
        Ok(Some(Json::Object(members)))
    }

    /// Whoever finds no tool in a client looks here for the reason.
    fn tell_if_empty(&self) {
        let (listed, mapped) = (self.listed.get(), self.mapped.get());
        if listed == 0 || self.shown.get() > 0 {
            return;
        }
        if let Some(left_out) = self.gate.sampler.admit(self.gate.clock.now()) {
            tracing::info!(
                listed,
                mapped,
                left_out,
                "a list of tools came out empty: of those that the policy maps, each is held back (see /readyz) or not covered by the credential"
            );
        }
    }
}

fn count(counted: &Cell<usize>) {
    counted.set(counted.get().saturating_add(1));
}

/// The text as one event: its line ends are spaces of JSON, so each line is one of the data.
fn event(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty());
    let mut event: Vec<u8> = lines.flat_map(|line| [b"data: ", line, b"\n"].concat()).collect();
    event.push(b'\n');
    event
}

/// One answer, for this caller alone.
fn response(status: http::StatusCode, content_type: &'static str, text: Vec<u8>) -> Response<AnswerBody> {
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// The answer does not read as a list of tools.
fn unreadable(why: &'static str) -> Fault {
    Fault::Upstream(UpstreamFault::ListUnreadable { why })
}
