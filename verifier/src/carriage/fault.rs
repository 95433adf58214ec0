//! Why a request's credential cannot be taken up.

/// Why a request carries no credential that could be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarriageFault {
    /// None at all.
    #[error(
        "the request carries no credential: send a Tenuo stack in params._meta.tenuo, or a Biscuit in the Authorization \
         header (DPoP) or params._meta[\"pact/credential\"]"
    )]
    NoCredential,
    /// C1: more than one.
    #[error("the request carries more than one credential: send one, in one place")]
    SecondCredential,
    /// C1: a header that must be single.
    #[error("the header {0} stands in the request more than once")]
    RepeatedHeader(&'static str),
    /// A header that is no text.
    #[error("the header {0} is not UTF-8 text")]
    MalformedHeader(&'static str),
    /// A member that is not of its form.
    #[error("the member {0} of the request is not of its form")]
    MalformedMember(&'static str),
    /// A member that holds more than is known.
    #[error("the member {0} of the request holds members that are not known here")]
    UnknownMember(&'static str),
    /// A scheme that carries no credential of ours.
    #[error("the Authorization header is of no known scheme: DPoP, or Bearer for a Biscuit without a holder")]
    UnknownScheme,
    /// A part of another carrier's proof.
    #[error("{0} does not belong to the way in which this credential was sent")]
    UnexpectedPart(&'static str),
    /// A proof of nothing.
    #[error("the request carries a proof and no credential")]
    ProofWithoutCredential,
    /// Tenuo's approvals are not judged here.
    #[error("approvals are not judged here: send none")]
    ApprovalsNotJudged,
    /// A signature that is not 64 bytes.
    #[error("the proof's signature is not 64 bytes in base64")]
    NotASignature,
}

impl CarriageFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            CarriageFault::NoCredential => "credential_missing",
            CarriageFault::SecondCredential => "credential_second",
            CarriageFault::RepeatedHeader(_) => "header_repeated",
            CarriageFault::MalformedHeader(_) => "header_malformed",
            CarriageFault::MalformedMember(_) => "member_malformed",
            CarriageFault::UnknownMember(_) => "member_unknown",
            CarriageFault::UnknownScheme => "scheme_unknown",
            CarriageFault::UnexpectedPart(_) => "carrier_mixed",
            CarriageFault::ProofWithoutCredential => "proof_without_credential",
            CarriageFault::ApprovalsNotJudged => "approvals_not_judged",
            CarriageFault::NotASignature => "proof_not_a_signature",
        }
    }
}
