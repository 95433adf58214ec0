//! Everything that a call is judged by, read from files.

use std::{io, path::Path, sync::Arc};

use pact_mandate::{Asked, Call, Now};
use pact_revocation::{Lists, disk};
use pact_verifier::{
    Audience, ChainCache, FileReplay, Policy, Presented, PresentedProof, Refusal, ReplayStore, TrustSnapshot,
    limits::{MAX_CACHE_BYTES, MAX_INPUT_BYTES},
    replay::{BootId, ProofId, ReplayFault, ReplayHealth},
};

use super::{Question, Unjudged, list_files, request, trust_file::TrustFile};

/// The parts, ready to climb.
pub(crate) struct Inputs {
    pub(crate) trust: Arc<TrustSnapshot>,
    pub(crate) policy: Policy,
    pub(crate) audience: Audience,
    pub(crate) lists: Lists,
    /// Lists that were there and were refused.
    pub(crate) refused_lists: Vec<String>,
    pub(crate) carried: Result<(Presented, PresentedProof), Refusal>,
    pub(crate) asked: Asked,
    pub(crate) replay: Box<dyn ReplayStore>,
    pub(crate) single_use: SingleUse,
    pub(crate) cache: ChainCache,
}

/// What this run can say of single use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SingleUse {
    /// Recorded in the folder.
    Recorded,
    /// Left out on demand.
    LeftOut,
    /// Not to be judged: there is no folder.
    Unjudged,
}

impl Inputs {
    pub(crate) fn read(question: &Question, now: Now) -> Result<Inputs, Unjudged> {
        let trust_file = TrustFile::read(&question.trust)?;
        let (lists, refused_lists) = list_files::load(&trust_file.lists, question.state.as_deref(), now)?;
        let request = request::read(question)?;
        let single_use = match (&question.state, question.without_replay) {
            (Some(_), _) => SingleUse::Recorded,
            (None, true) => SingleUse::LeftOut,
            (None, false) => SingleUse::Unjudged,
        };
        Ok(Inputs {
            trust: Arc::new(trust_file.trust),
            policy: read_policy(question)?,
            audience: question.audience.parse().map_err(|error| Unjudged::new("--audience", error))?,
            lists,
            refused_lists,
            carried: request.carried,
            asked: request.asked,
            replay: open_replay(question.state.as_deref(), now)?,
            single_use,
            cache: ChainCache::new(MAX_CACHE_BYTES),
        })
    }

    /// The call, as the policy judges it.
    pub(crate) fn call(&self) -> Result<Call, Refusal> {
        self.policy.judge(self.asked.clone())
    }
}

fn read_policy(question: &Question) -> Result<Policy, Unjudged> {
    let text = match &question.policy {
        Some(path) => read_text(path)?,
        None => format!("identity = true\nstock_proofs = {}", question.stock_proofs),
    };
    Policy::from_toml(&text).map_err(|error| Unjudged::new("the policy", error))
}

fn open_replay(state: Option<&Path>, now: Now) -> Result<Box<dyn ReplayStore>, Unjudged> {
    let Some(state) = state else { return Ok(Box::new(NotRecorded)) };
    let store = FileReplay::open(&state.join("proofs"), BootId::of_this_system(), now);
    Ok(Box::new(store.map_err(|error| Unjudged::new(state.display(), error))?))
}

/// For a run that says in its verdict that single use was not judged.
struct NotRecorded;

impl ReplayStore for NotRecorded {
    fn record(&self, _: &ProofId, _: Now) -> Result<(), ReplayFault> {
        Ok(())
    }

    fn health(&self) -> ReplayHealth {
        ReplayHealth { since: pact_mandate::UnixTime::MAX, held: 0, limit: 0, failed: None }
    }
}

/// A file's content, at most so long as anything that is judged may be; `-` is standard input.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Unjudged> {
    let read = if path == Path::new("-") {
        disk::read_from(io::stdin().lock(), MAX_INPUT_BYTES)
    } else {
        disk::read(path, MAX_INPUT_BYTES)
    };
    read.map_err(|error| Unjudged::new(path.display(), error))
}

pub(crate) fn read_text(path: &Path) -> Result<String, Unjudged> {
    String::from_utf8(read_bytes(path)?).map_err(|_| Unjudged::new(path.display(), "not UTF-8 text"))
}
