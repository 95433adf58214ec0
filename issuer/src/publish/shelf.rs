//! Bodies that a head named a moment ago: a verifier that just read that head still asks for them.

use std::collections::BTreeMap;

use pact_mandate::UnixTime;

use super::{Document, Documents, Kind};
use crate::limits::BODY_KEPT_SECONDS;

/// Bodies by path, with the time at which a head named them last.
#[derive(Debug, Default)]
pub(super) struct Shelf(BTreeMap<String, (Document, UnixTime)>);

impl Shelf {
    /// Notes the bodies of this moment and adds those of a moment ago.
    pub(super) fn complete(&mut self, documents: &mut Documents, now: UnixTime) {
        for (path, document) in documents.iter().filter(|(_, document)| document.kind == Kind::Body) {
            self.0.insert(path.clone(), (document.clone(), now));
        }
        self.0.retain(|_, (_, named_at)| now.since(*named_at) <= BODY_KEPT_SECONDS);
        for (path, (document, _)) in &self.0 {
            documents.entry(path.clone()).or_insert_with(|| document.clone());
        }
    }
}
