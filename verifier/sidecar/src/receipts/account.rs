//! What is known of one request while it is judged: its receipt is made of it.

use pact_mandate::{Action, Call, UnixTime};
use pact_verifier::{
    Known, Receipt, Refusal, Refused, Verifier,
    act::ActName,
    presented::UnverifiedHint,
    receipt::{Code, Credential, Decision, Hex},
};

use super::DigestKey;
use crate::{fault::Fault, gate::Gate, request_id::RequestId, respond};

/// An account of one request. It decides nothing.
#[derive(Default)]
pub(crate) struct Account {
    digest: Option<DigestKey>,
    /// The trust and the policy that it was judged by.
    judged_by: Option<(Hex<32>, Hex<32>)>,
    hint: Option<UnverifiedHint>,
    action: Option<Action>,
    call: Option<Hex<32>>,
    act: Option<ActName>,
    known: Option<Box<Known>>,
    trace: Option<Hex<16>>,
    /// Its receipt was written, or given up: what comes after is no decision.
    pub(super) permitted: bool,
}

impl Account {
    /// Of a request of which nothing is known. Without a key there is no receipt, and no digest is made.
    pub(crate) fn new(digest: Option<DigestKey>) -> Account {
        Account { digest, ..Account::default() }
    }

    /// A credential came, and this verifier judges it.
    pub(crate) fn note_presented(&mut self, hint: UnverifiedHint, verifier: &Verifier) {
        self.hint = Some(hint);
        self.judged_by = Some(digests(verifier));
    }

    /// The trace that the caller says it belongs to.
    pub(crate) fn note_trace(&mut self, trace: Option<Hex<16>>) {
        self.trace = trace;
    }

    /// The policy knows what is asked for.
    pub(crate) fn note_call(&mut self, call: &Call) {
        let Some(digest) = &self.digest else { return };
        self.action = Some(call.judged.action.clone());
        self.call = digest.digest(call);
    }

    /// It is an act on a session.
    pub(crate) fn note_act(&mut self, act: ActName) {
        self.act = Some(act);
    }

    /// What the ladder of trust found, for a refusal that comes after it.
    pub(crate) fn note_known(&mut self, known: Known) {
        self.known = Some(Box::new(known));
    }

    /// The ladder of trust said no; its refusal is handed on.
    pub(crate) fn note_refused(&mut self, refused: Refused) -> Refusal {
        self.known = refused.known;
        refused.refusal
    }

    /// Whether the credential's chain was verified.
    pub(super) fn is_verified(&self) -> bool {
        self.known.is_some()
    }

    /// The receipt, as far as every decision has the same.
    pub(super) fn receipt(
        &self,
        gate: &Gate,
        decision: Decision,
        request_id: RequestId,
        at: UnixTime,
    ) -> Receipt {
        let (trust, policy) = self.judged_by.unwrap_or_else(|| digests(&gate.rules.load().verifier));
        Receipt {
            act: self.act,
            action: self.action.clone(),
            at,
            call: self.call,
            code: None,
            credential: None,
            decision,
            left_out: None,
            list: None,
            policy,
            proof: None,
            request: Hex(request_id.to_bytes()),
            trace: self.trace,
            trust,
            typ: <_>::default(),
            unverified_credential: None,
        }
    }

    /// Fills in what a refusal has. What nobody verified says so by its name; what it asked for is not told.
    pub(super) fn refused(&self, fault: &Fault, receipt: &mut Receipt) {
        receipt.code = Code::try_from(respond::code(fault).to_owned()).ok();
        let Some(known) = &self.known else {
            (receipt.act, receipt.action, receipt.call) = (None, None, None);
            receipt.unverified_credential = self.hint.map(Into::into);
            return;
        };
        receipt.credential = Some(Credential::of(&known.chain));
        receipt.proof = Some(known.proof);
        receipt.list = known.list.map(Into::into);
    }
}

fn digests(verifier: &Verifier) -> (Hex<32>, Hex<32>) {
    (Hex(*verifier.trust().digest()), Hex(*verifier.policy().digest()))
}
