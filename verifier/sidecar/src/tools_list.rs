//! `tools/list`: every caller sees the tools that it could call, by the judgement that its calls meet.

use std::{collections::BTreeSet, sync::Arc};

use http::{HeaderMap, HeaderValue, Response, header};
use http_body_util::{BodyExt, Full};
use pact_mandate::{Format, Json, json::Member};
use pact_verifier::{Presented, Refusal, Verifier, Viewer, carriage::CarriageFault};

use crate::{
    answer::AnswerBody,
    fault::{Fault, UpstreamFault},
    gate::{Gate, read_carriage},
    mcp::{Message, RpcId},
};

pub(crate) mod collect;
mod events;
mod rebuild;

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

/// The list that nobody is shown a tool of. (MCP 2026-07-28 wants the last three members, older clients skip them.)
const EMPTY: &str = r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;

impl Gate {
    /// Who asks for a list; a credential that would not do for a call does not do here.
    pub(crate) fn onlooker(&self, message: &Message, headers: &HeaderMap) -> Result<Onlooker, Fault> {
        let rules = self.rules.load();
        let presented = match read_carriage(message.params(), headers) {
            Ok((presented, _)) => presented,
            Err(Refusal::Carriage(CarriageFault::NoCredential)) => {
                let all = rules.verifier.policy().lists_to_strangers();
                return Ok(if all { Onlooker::Stranger } else { Onlooker::Nobody });
            }
            Err(refusal) => return Err(refusal.into()),
        };
        self.view(&presented)?;
        Ok(Onlooker::Bearer(presented))
    }

    fn view(&self, presented: &Presented) -> Result<Viewer, Fault> {
        let (rules, lists, now) = (self.rules.load(), self.lists.lists(), self.clock.now());
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
            let sight = Sight::of(&gate, &rules.verifier, &onlooker)?;
            rebuild::list(&text, id.as_ref(), |tool| sight.hint(tool))
        };
        let rebuilt = tokio::task::spawn_blocking(work).await.map_err(|_| Fault::Internal)??;
        // Until now it occupied its place among the requests in work.
        drop(body);
        Ok(response(head.status, rebuilt))
    }

    /// The answer to whom nothing is shown. The tool server is not asked.
    pub(crate) fn shown_nothing(id: Option<&RpcId>) -> Response<AnswerBody> {
        let id = id.map_or_else(|| "null".to_owned(), RpcId::to_json);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{EMPTY}}}"#);
        response(http::StatusCode::OK, text.into_bytes())
    }
}

/// What decides for each tool whether it is shown.
struct Sight<'v> {
    verifier: &'v Verifier,
    /// `None`: every mapped tool is.
    viewer: Option<Viewer>,
    formats: BTreeSet<Format>,
}

impl<'v> Sight<'v> {
    fn of(gate: &Gate, verifier: &'v Verifier, onlooker: &Onlooker) -> Result<Sight<'v>, Fault> {
        let viewer = match onlooker {
            Onlooker::Bearer(presented) => Some(gate.view(presented)?),
            // A reload may have shut what was open when it asked.
            Onlooker::Stranger | Onlooker::Nobody if verifier.policy().lists_to_strangers() => None,
            Onlooker::Stranger | Onlooker::Nobody => {
                return Err(Refusal::Carriage(CarriageFault::NoCredential).into());
            }
        };
        let formats = verifier.trust().issuers().iter().flat_map(|issuer| issuer.speaks.formats.clone());
        Ok(Sight { verifier, viewer, formats: formats.collect() })
    }

    /// What its holder must sign to call the tool (protocol M3); `None` when the tool is not shown.
    fn hint(&self, tool: &str) -> Result<Option<Json>, Fault> {
        let policy = self.verifier.policy();
        let Some(action) = policy.action_of(tool) else { return Ok(None) };
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
        Ok(Some(Json::Object(members)))
    }
}

/// One JSON answer, for this caller alone.
fn response(status: http::StatusCode, text: Vec<u8>) -> Response<AnswerBody> {
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

/// The answer does not read as a list of tools.
fn unreadable(why: &'static str) -> Fault {
    Fault::Upstream(UpstreamFault::ListUnreadable { why })
}
