//! What a holder signs to get its credential anew: nothing new is granted by it.

use serde::{Deserialize, Serialize};

use crate::{
    format::Format,
    id::{IssuerId, MandateId, ReissueId},
    signed::{Extensions, Statement},
    time::UnixTime,
};

/// The content of the request, as it is signed (`typ` = `pact-reissue/1`) by the holder's key, whose id in the signature is
/// the key itself: the issuer knows that key from an export by a person's hand, or refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reissue {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    crit: Vec<String>,
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    ext: Extensions,
    format: Format,
    id: ReissueId,
    issued_at: UnixTime,
    issuer: IssuerId,
    mandate: MandateId,
    typ: String,
}

impl Reissue {
    /// A request that counts once, for a minute from `issued_at`.
    pub fn new(
        issuer: IssuerId,
        mandate: MandateId,
        format: Format,
        id: ReissueId,
        issued_at: UnixTime,
    ) -> Reissue {
        let typ = Reissue::TYP.to_owned();
        Reissue { crit: Vec::new(), ext: Extensions::new(), format, id, issued_at, issuer, mandate, typ }
    }

    /// The form that is wanted.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Under which it counts once.
    pub const fn id(&self) -> &ReissueId {
        &self.id
    }

    /// When it was signed.
    pub const fn issued_at(&self) -> UnixTime {
        self.issued_at
    }

    /// Whom it is for.
    pub const fn issuer(&self) -> &IssuerId {
        &self.issuer
    }

    /// The mandate whose credential is wanted.
    pub const fn mandate(&self) -> MandateId {
        self.mandate
    }
}

impl Statement for Reissue {
    const TYP: &'static str = "pact-reissue/1";
    /// Five short members.
    const MAX_BYTES: usize = 2048;

    fn typ(&self) -> &str {
        &self.typ
    }

    fn crit(&self) -> &[String] {
        &self.crit
    }
}
