//! The payload of a warrant, read whole and strictly: one content has one encoding (protocol C2).

use std::collections::BTreeMap;

use super::{capability::Capability, extensions::Extensions};

mod read;

/// What a warrant says.
#[derive(Clone, Debug)]
pub(super) struct Warrant {
    pub(super) id: [u8; 16],
    pub(super) grant: Grant,
    pub(super) holder: [u8; 32],
    pub(super) issuer: [u8; 32],
    pub(super) issued_at: u64,
    pub(super) expires_at: u64,
    pub(super) max_depth: u8,
    pub(super) depth: u32,
    pub(super) parent_hash: Option<[u8; 32]>,
    pub(super) extensions: Extensions,
    pub(super) approvals: Approvals,
    /// Absent is 0.
    pub(super) clearance: u8,
}

/// What a warrant is for.
#[derive(Clone, Debug)]
pub(super) enum Grant {
    /// To call these tools. Without any it allows nothing, and derives nothing but more of that.
    Execution(BTreeMap<String, Capability>),
    /// To issue execution warrants.
    Issuer(Issuance),
}

/// What may be issued.
#[derive(Clone, Debug)]
pub(super) struct Issuance {
    /// For which tools; `*` for any.
    pub(super) tools: Vec<String>,
    /// How deep.
    pub(super) max_depth: Option<u32>,
    /// Within which constraints, for every tool.
    pub(super) bounds: Option<Capability>,
}

/// Whose approval a call would need.
#[derive(Clone, Debug, Default)]
pub(super) struct Approvals {
    /// Distinct keys, ascending.
    pub(super) approvers: Vec<[u8; 32]>,
    /// How many of them; all, when the warrant does not say.
    pub(super) threshold: usize,
}
