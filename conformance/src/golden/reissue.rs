//! The request for a credential anew, by the golden holder for the golden leaf.

use pact_mandate::{Format, Reissue, ReissueId, Signer, UnixTime, signed::Prepared};

use super::{
    Cases, Fault, key,
    mandate::{START, child},
};

/// The cases of this format.
pub fn cases() -> Result<Cases, Fault> {
    let id = ReissueId::from_random([0x44; 16]);
    let (issuer, at) = ("board.example.org".parse()?, UnixTime::try_from(START + 60)?);
    let request = Prepared::new(Reissue::new(issuer, child()?.statement().id(), Format::Tenuo, id, at))?;
    let payload = String::from_utf8(request.bytes().to_vec())?;
    let holder = key::holder_key()?;
    let named = holder.public_key().to_string().parse()?;
    let signed = request.sign(&holder.named(named))?;
    let whole = String::from_utf8(signed.signed().to_bytes()?)?;
    Ok(Cases::from([("reissue.payload", payload), ("reissue", whole)]))
}
