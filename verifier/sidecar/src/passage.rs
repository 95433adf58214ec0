//! Leave to forward one message, and the bytes that may be forwarded by it (protocol M2): one value, so that the two cannot
//! come apart. It is made of a message that was judged, or whose method is open, and of nothing else.

use bytes::Bytes;
use http::Method;
use pact_mandate::{Call, Json, Now, call::Asked};
use pact_revocation::Lists;
use pact_verifier::{
    ActPermit, Permit, Policy, Presented, Verifier,
    carriage::META_MEMBERS,
    permit::Standing,
    proof::{PresentedProof, params_digest},
};

use crate::{
    fault::{Fault, ShapeFault},
    mcp::{ListMessage, Message, OpenMessage, RpcId, TOOLS_CALL, ToolCall},
    receipts::Account,
    session::SessionId,
};

mod cut;

/// What lets one message through, and the message. There is no copy of it: whoever forwards uses it up.
pub(crate) struct Passage {
    leave: Leave,
    body: Bytes,
    id: Option<RpcId>,
}

/// Leave for one act on a session (protocol M4), and what does it. There is no copy of it.
pub(crate) struct Deed {
    permit: ActPermit,
    session: SessionId,
    body: Bytes,
}

enum Leave {
    /// The ladder of trust permitted this very call.
    Judged(Box<Permit>),
    /// The method needs no credential.
    Open,
}

impl Passage {
    /// Lets a message through whose method is open.
    pub(crate) fn open(message: OpenMessage) -> Passage {
        Passage::new(message.into_message(), Leave::Open)
    }

    /// Lets a question for the list of tools through; its answer is filtered on the way back.
    pub(crate) fn list(message: ListMessage) -> Passage {
        Passage::new(message.into_message(), Leave::Open)
    }

    /// Climbs the ladder of trust with the call that the message makes, and notes for its receipt how far that went.
    pub(crate) fn judge(
        call: ToolCall,
        presented: Presented,
        proof: &PresentedProof,
        verifier: &Verifier,
        lists: &Lists,
        now: Now,
        account: &mut Account,
    ) -> Result<Passage, Fault> {
        let judged = judged(call.message(), verifier.policy())?;
        account.note_call(&judged);
        let admitted = verifier.admit_knowing(presented, proof, judged, lists, now);
        let permit = admitted.map_err(|refused| account.note_refused(refused))?;
        Ok(Passage::new(call.into_message(), Leave::Judged(Box::new(permit))))
    }

    /// The message without the members that carry trust, whatever let it through.
    fn new(message: Message, leave: Leave) -> Passage {
        let is_ours = |name: &str| META_MEMBERS.contains(&name);
        let body = cut::without_members(message.body(), message.params(), is_ours);
        Passage { leave, body, id: message.into_id() }
    }

    /// The permit, where one was needed.
    pub(crate) fn permit(&self) -> Option<&Permit> {
        match &self.leave {
            Leave::Judged(permit) => Some(permit),
            Leave::Open => None,
        }
    }

    /// What to keep for as long as the answer runs.
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.permit().map(Permit::standing)
    }

    /// What to forward, once: the bytes, and the id under which the caller waits.
    pub(crate) fn use_up(self) -> (Bytes, Option<RpcId>) {
        (self.body, self.id)
    }
}

impl Deed {
    /// The act that was permitted, in the session that it names; `body` is the response that it answers by.
    pub(crate) fn new(permit: ActPermit, session: SessionId, body: Bytes) -> Deed {
        Deed { permit, session, body }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.permit.act().name().as_str()
    }

    /// What to keep for as long as the answer runs.
    pub(crate) fn standing(&self) -> Standing {
        self.permit.standing()
    }

    /// What to send, once: in which session, behind which event, by which method, with which body.
    pub(crate) fn use_up(self) -> (SessionId, Option<String>, Method, Bytes) {
        let act = self.permit.into_act();
        let method = match act.method() {
            "GET" => Method::GET,
            "DELETE" => Method::DELETE,
            _ => Method::POST,
        };
        (self.session, act.last_event_id().map(str::to_owned), method, self.body)
    }
}

/// The call in the tool server's own words, and what it amounts to.
fn judged(message: &Message, policy: &Policy) -> Result<Call, Fault> {
    let wanted = ShapeFault::BadParams { wanted: "numbers of at most 17 significant digits" };
    let none = Json::Object(Vec::new());
    let params = message.params().unwrap_or(&none);
    let digest = params_digest(message.method(), params).map_err(|_| wanted)?;
    if message.method() == TOOLS_CALL {
        let tool = message.tool().unwrap_or_default().to_owned();
        let arguments = params.get("arguments").cloned().unwrap_or(none);
        return Ok(policy.judge(Asked { tool, arguments, params: digest })?);
    }
    // A method that is a call of its own: its params are the arguments.
    let arguments = params.members().unwrap_or_default().iter().filter(|member| member.name != "_meta");
    let arguments = Json::Object(arguments.cloned().collect());
    Ok(policy.judge_method(Asked { tool: message.method().to_owned(), arguments, params: digest })?)
}
