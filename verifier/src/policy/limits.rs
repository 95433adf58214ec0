//! Values for limits that real tools have no argument for, stated only where a credential sets such a limit.

use std::borrow::Cow;

use pact_mandate::Judged;

use super::{Policy, PolicyFault, fault::shortened, prospect::Open};

impl Policy {
    /// What a credential with these limit keys judges: the call, and the file-wide values of the limits that neither the
    /// tool's arguments nor its constants say anything of. A limit that nothing says anything of is refused.
    pub(crate) fn with_limits<'j>(
        &self,
        tool: &str,
        judged: &'j Judged,
        open: &Open,
        keys: &[&str],
    ) -> Result<Cow<'j, Judged>, PolicyFault> {
        let mut stated = Cow::Borrowed(judged);
        for key in keys {
            if judged.arguments.contains_key(*key) || open.has(key) || self.has_source(tool, key) {
                continue;
            }
            let Some(value) = self.limits.get(*key) else {
                return Err(PolicyFault::LimitUnmapped { tool: shortened(tool), key: shortened(key) });
            };
            stated.to_mut().arguments.insert((*key).to_owned(), value.clone());
        }
        Ok(stated)
    }

    /// Whether the tool has an argument for it, sent or not. A tool that speaks the names of mandates has one for each.
    fn has_source(&self, tool: &str, key: &str) -> bool {
        match self.mapping(tool) {
            Some(mapping) => mapping.judged.contains_key(key),
            None => !self.limits.contains_key(key),
        }
    }
}
