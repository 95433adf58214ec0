//! Receipts: the lines of a log, a checkpoint among them, and the digest of a call.

use pact_mandate::{
    KeyId, SecretKey, Signer, UnixTime,
    chainlog::{ChainLog, Entry, LogId},
};
use pact_sidecar::DigestKey;
use pact_verifier::receipt::{
    Closed, Credential, Decision, Hex, ListAsked, Opened, ProofMark, Receipt, Unverified,
};

use super::{Cases, Fault, call, key, mandate::START};

/// The key that signs the golden receipts: its seed is 32 bytes of 5.
pub fn receipt_key() -> Result<SecretKey, Fault> {
    Ok(SecretKey::from_seed(&[5; 32])?)
}

/// The key of the digests in golden receipts: 32 bytes of 6.
pub fn digest_key() -> Result<DigestKey, Fault> {
    Ok(DigestKey::from_bytes(&[6; 32]))
}

/// The receipt of the golden call, made with the golden credential.
pub fn permit() -> Result<Receipt, Fault> {
    let (call, trust, policy) = (call::call()?, call::trust()?, call::policy()?);
    let credential = Credential {
        format: pact_mandate::Format::Tenuo,
        holder: Some(KeyId::from(key::holder_key()?.public_key().thumbprint())),
        ids: ["11", "22"].map(|byte| format!("tnu_wrt_{}", byte.repeat(16))).to_vec(),
        issuer: "board.example.org".parse()?,
        root: KeyId::from(key::mandate_key()?.public_key().thumbprint()),
        source: None,
    };
    Ok(Receipt {
        act: None,
        action: Some(call.judged.action.clone()),
        at: at(60)?,
        call: digest_key()?.digest(&call),
        code: None,
        credential: Some(credential),
        decision: Decision::Permit,
        left_out: None,
        list: Some(ListAsked { age: 4, version: 2 }),
        policy: Hex(*policy.digest()),
        proof: Some(ProofMark::Fresh),
        request: Hex([0x77; 16]),
        trace: None,
        trust: Hex(*trust.digest()),
        typ: <_>::default(),
        unverified_credential: None,
    })
}

/// A sampled refusal.
pub fn sampled() -> Result<Receipt, Fault> {
    Ok(Receipt {
        act: None,
        action: None,
        call: None,
        code: Some("biscuit_bad_signature".to_owned().try_into()?),
        credential: None,
        decision: Decision::Refuse,
        left_out: Some(3),
        list: None,
        proof: None,
        unverified_credential: Some(Unverified {
            bytes: 700,
            format: pact_mandate::Format::Biscuit,
            sha256: Hex([0x88; 8]),
        }),
        ..permit()?
    })
}

/// A log of one run, line by line: opened, a permit, a refusal, a checkpoint, closed.
pub fn log() -> Result<Vec<String>, Fault> {
    let opened = Opened { after: None, at: at(0)?, file: Some(1), typ: <_>::default() };
    let closed = Closed { at: at(61)?, left_out: 2, typ: <_>::default() };
    let mut log = ChainLog::begin(LogId::from_random([0x99; 16]));
    let mut lines = Vec::new();
    for entry in [
        Some(Entry::new(&opened)?),
        Some(Entry::of_sorted(&permit()?)?),
        Some(Entry::of_sorted(&sampled()?)?),
        None,
        Some(Entry::new(&closed)?),
    ] {
        let line = match entry {
            Some(entry) => log.entry(&entry)?,
            None => log.checkpoint(at(61)?, &receipt_key()?)?,
        };
        log.written(&line);
        lines.push(String::from_utf8(line.bytes().to_vec())?);
    }
    Ok(lines)
}

fn at(seconds: u64) -> Result<UnixTime, Fault> {
    Ok(UnixTime::try_from(START + seconds)?)
}

pub(super) fn cases() -> Result<Cases, Fault> {
    let call = call::call()?;
    let text = DigestKey::canonical(&call).ok_or("the golden call has no canonical form")?;
    let digest = digest_key()?.digest(&call).ok_or("the golden call has no digest")?;
    let mut lines = log()?.into_iter();
    let mut next = || lines.next().ok_or("the golden log is shorter");
    Ok(Cases::from([
        ("receipt.call", String::from_utf8(text)?),
        ("receipt.call.digest", digest.to_string()),
        ("receipt.opened", next()?),
        ("receipt.permit", next()?),
        ("receipt.sampled", next()?),
        ("receipt.checkpoint", next()?),
        ("receipt.closed", next()?),
    ]))
}
