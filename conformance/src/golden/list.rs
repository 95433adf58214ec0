//! Our list: its head, its body and a delta; and the two compatible lists.

use pact_mandate::{UnixTime, id::MandateId};
use pact_revocation::{
    Draft, Entry, ListVersion, Listed, Published,
    compat::{biscuit::BiscuitList, tenuo::TenuoList},
};

use super::{Cases, Fault, key, mandate::START, proof::hex};

/// List 1: one warrant and one mandate.
pub fn first() -> Result<Published, Fault> {
    let listed = [
        Listed { entry: Entry::of_warrant(&[0x22; 16]), expires_at: UnixTime::try_from(START + 3600)? },
        Listed {
            entry: Entry::of_mandate(MandateId::from_random([0x22; 16])),
            expires_at: UnixTime::try_from(START + 1800)?,
        },
    ];
    let draft = Draft::first("board.example.org".parse()?).revoke(listed);
    Ok(draft.sign(&key::list_key()?, UnixTime::try_from(START)?)?)
}

/// List 2: the holder's key is added.
pub fn second() -> Result<Published, Fault> {
    let thumbprint = pact_mandate::Signer::public_key(&key::holder_key()?).thumbprint();
    let entry = Entry::of_key(&thumbprint);
    let listed = Listed { entry, expires_at: UnixTime::try_from(START + 3600)? };
    let draft = Draft::after(&first()?).revoke([listed]);
    Ok(draft.sign(&key::list_key()?, UnixTime::try_from(START + 30)?)?)
}

/// The delta from list 1 to list 2.
pub fn delta() -> Result<Vec<u8>, Fault> {
    let second = second()?;
    let delta = second.deltas().next().ok_or("list 2 has no delta")?;
    Ok(delta.1.to_vec())
}

/// The compatible lists, signed by the mandate key: Tenuo's, then Biscuit's.
pub fn compatible() -> Result<[Vec<u8>; 2], Fault> {
    let (signer, issued_at, version) =
        (key::mandate_key()?, UnixTime::try_from(START)?, ListVersion::try_from(1)?);
    let tenuo = TenuoList { version, issued_at, warrants: vec![[0x22; 16]] };
    let biscuit = BiscuitList::new(version, issued_at, [&[0x44_u8; 64][..]]);
    Ok([tenuo.sign(&signer)?, biscuit.sign(&signer)?])
}

pub(super) fn cases() -> Result<Cases, Fault> {
    let (first, second) = (first()?, second()?);
    Ok(Cases::from([
        (
            "list.entries",
            [Entry::of_warrant(&[0x22; 16]), Entry::of_mandate(MandateId::from_random([0x22; 16]))]
                .map(|entry| hex(entry.as_bytes()))
                .join("\n"),
        ),
        ("list.first.head", String::from_utf8(first.head_bytes()?)?),
        ("list.first.body", hex(first.body_bytes())),
        ("list.second.head", String::from_utf8(second.head_bytes()?)?),
        ("list.second.body", hex(second.body_bytes())),
        ("list.delta", hex(&delta()?)),
    ]))
}
