//! Mandates, alone and in chains.

use std::sync::LazyLock;

use pact_mandate::{Authentic, Chain, Mandate, Signed, UnixTime};

use super::{Answer, reason, signed::signed_text};
use crate::golden::{Fault, key, mandate as golden};

/// A signed mandate; or the payload of one, which is then signed here, so that what stands behind the signature is reached
/// as well. It is judged as a root and as a child of the golden root.
pub fn mandate(bytes: &[u8]) -> Answer {
    envelope(bytes).or_else(|refused| payload(bytes).map_err(|other| format!("{refused}; {other}")))
}

fn envelope(bytes: &[u8]) -> Answer {
    let signed = Signed::<Mandate>::from_bytes(bytes).map_err(reason)?;
    assert_eq!(signed.to_bytes().as_deref(), Ok(bytes), "an envelope has two forms");
    judge(&signed)
}

fn payload(bytes: &[u8]) -> Answer {
    let text = std::str::from_utf8(bytes).map_err(reason)?;
    judge(&signed_text(text, &key::mandate_key().map_err(reason)?)?)
}

fn judge(signed: &Signed<Mandate>) -> Answer {
    static ROOT: LazyLock<Result<Authentic<Mandate>, Fault>> = LazyLock::new(golden::root);
    let keys = key::ring(&key::mandate_key().map_err(reason)?);
    let now = UnixTime::try_from(golden::START + 60).map_err(reason)?;
    let authentic = signed.clone().open(&keys).map_err(reason)?;
    let again = pact_mandate::canonical::to_bytes(authentic.statement());
    assert_eq!(again.as_deref(), Ok(authentic.payload()), "a mandate has two forms");
    let root = ROOT.as_ref().map_err(reason)?.signed().clone();
    let as_root = Chain::verify(vec![signed.clone()], &keys, now, 30);
    let as_child = Chain::verify(vec![root, signed.clone()], &keys, now, 30);
    for chain in [&as_root, &as_child].into_iter().flatten() {
        assert_no_wider(chain);
    }
    as_root.or(as_child).map(|_| ()).map_err(reason)
}

/// No link is wider than any above it.
fn assert_no_wider(chain: &Chain) {
    for (at, below) in chain.mandates().enumerate() {
        for above in chain.mandates().take(at) {
            assert!(below.scope().first_beyond(above.scope()).is_none(), "a scope was widened");
            assert!(below.limits().first_beyond(above.limits()).is_none(), "a limit was raised");
            assert!(
                below.validity().expires_at <= above.validity().expires_at,
                "a mandate outlives its parent"
            );
        }
    }
}
