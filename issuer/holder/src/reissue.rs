//! What a holder signs to get its credential anew from `pact-issuer serve --reissue`.

use pact_mandate::{Reissue, signed::Prepared};

use crate::{error::SignError, holder::Holder};

/// The signed request, as it is posted. It counts once, for a minute.
pub fn sign_reissue(holder: &Holder, request: Reissue) -> Result<Vec<u8>, SignError> {
    let prepared = Prepared::new(request)?;
    let signature = holder.sign(prepared.bytes())?;
    let key = holder.public_key();
    // The key names itself: the issuer knows it from the export that a person made to it.
    let authentic = prepared.issue(key.to_string().parse()?, key, signature)?;
    Ok(authentic.signed().to_bytes()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pact_mandate::{Format, MandateId, PublicKey, ReissueId, Signed, UnixTime};

    use super::*;

    #[test]
    fn k7_the_request_opens_under_the_key_that_it_names() {
        let holder = Holder::from_seed(&[7; 32]).unwrap();
        let request = Reissue::new(
            "example".parse().unwrap(),
            MandateId::from_random([1; 16]),
            Format::Tenuo,
            ReissueId::from_random([2; 16]),
            UnixTime::try_from(1_000).unwrap(),
        );
        let signed = Signed::<Reissue>::from_bytes(&sign_reissue(&holder, request.clone()).unwrap()).unwrap();
        let key: PublicKey = signed.unverified_key_id().to_string().parse().unwrap();
        assert_eq!(key, *holder.public_key());
        let keys = BTreeMap::from([(signed.unverified_key_id().clone(), key)]);
        assert_eq!(*signed.open(&keys).unwrap().statement(), request);
    }
}
