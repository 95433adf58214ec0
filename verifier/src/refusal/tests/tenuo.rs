//! One of each refusal of a Tenuo stack.

use pact_mandate::{
    UnixTime,
    cbor::{CborError, CborFault},
    key::KeyError,
};

use crate::{
    format::tenuo::{CallFault, FormFault, LinkFault, Misformed, StackFault, TenuoFault},
    refusal::Refusal,
};

const CBOR: CborError = CborError { fault: CborFault::Truncated, at: 0 };

fn text() -> String {
    "x".to_owned()
}

fn stack() -> [StackFault; 4] {
    [StackFault::TooLarge(1), StackFault::TooDeep(1), StackFault::Empty, StackFault::Encoding(CBOR)]
}

fn form() -> Vec<FormFault> {
    vec![
        FormFault::TooLarge(1),
        FormFault::Encoding(CBOR),
        FormFault::KeyOrder { at: 1 },
        FormFault::UnknownVersion(2),
        FormFault::UnknownAlgorithm(2),
        FormFault::UnknownType(2),
        FormFault::UnknownField(99),
        FormFault::MissingField(1),
        FormFault::MisplacedField(1),
        FormFault::TooMany { what: "tools", found: 2, most: 1 },
        FormFault::TooLong { what: "a name", found: 2, most: 1 },
        FormFault::BadKey(KeyError::Weak),
        FormFault::Misformed(Misformed::EmptyAll),
        FormFault::ConstraintTooLarge,
        FormFault::ConstraintTooDeep,
        FormFault::ReservedTool(text()),
        FormFault::UnknownExtension(text()),
        FormFault::BadExtension("x"),
        FormFault::BadThreshold { wanted: 2, approvers: 1 },
        FormFault::NothingToIssue,
        FormFault::IssuesTooDeep { most: 1 },
    ]
}

fn link() -> Vec<LinkFault> {
    vec![
        LinkFault::UntrustedRoot,
        LinkFault::NotSpeaking,
        LinkFault::NotARoot { depth: 1 },
        LinkFault::BadSignature,
        LinkFault::WrongIssuer,
        LinkFault::WrongParent,
        LinkFault::WrongDepth { expected: 1, found: 2 },
        LinkFault::DepthExceeded { depth: 2, most: 1 },
        LinkFault::DepthRaised { found: 2, parent: 1 },
        LinkFault::Expired(UnixTime::EPOCH),
        LinkFault::NotYetValid(1),
        LinkFault::NoLifetime,
        LinkFault::LivesTooLong(1),
        LinkFault::OutlivesParent,
        LinkFault::OlderThanParent,
        LinkFault::DuplicateId,
        LinkFault::OtherSession,
        LinkFault::ClearanceRaised { found: 2, parent: 1 },
        LinkFault::ToolAdded(text()),
        LinkFault::ToolReopened(text()),
        LinkFault::ArgumentsChanged { tool: text(), argument: text() },
        LinkFault::UnknownAdmitted(text()),
        LinkFault::Widened { tool: text(), argument: text() },
        LinkFault::TooMuchWork,
        LinkFault::IssuerFromExecution,
        LinkFault::SelfIssued,
        LinkFault::NotIssuable(text()),
        LinkFault::BoundsDropped,
        LinkFault::IssueDepthExceeded(1),
        LinkFault::ApprovalsDropped,
        LinkFault::MisplacedSource,
    ]
}

fn call() -> Vec<CallFault> {
    vec![
        CallFault::NotExecutable,
        CallFault::ApprovalRequired,
        CallFault::ToolNotGranted(text()),
        CallFault::ToolRestricted(text()),
        CallFault::ArgumentNotNamed(text()),
        CallFault::ArgumentMissing(text()),
        CallFault::OutsideConstraint(text()),
        CallFault::InexactNumber(text()),
        CallFault::UnjudgedConstraint { argument: text(), kind: "x" },
        CallFault::UnjudgedValue { argument: text(), wanted: "x" },
    ]
}

pub(super) fn all() -> Vec<Refusal> {
    let stack = stack().into_iter().map(TenuoFault::Stack);
    let form = form().into_iter().map(|fault| TenuoFault::Form { link: 0, fault });
    let link = link().into_iter().map(|fault| TenuoFault::Link { link: 0, fault });
    let call = call().into_iter().map(TenuoFault::Call);
    stack.chain(form).chain(link).chain(call).map(Refusal::Tenuo).collect()
}
