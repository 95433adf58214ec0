//! What a sidecar keeps of traffic that is mixed, hostile and never the same twice.

use std::sync::Arc;

use tokio::runtime::Runtime;

use super::{
    calls::{Call, Callers, Credentials, arguments, message},
    hosted::Hosted,
    load::flood,
};
use crate::world::Failure;

/// Requests of one batch: small enough that the proofs made for it still count when their turn comes.
const BATCH: usize = 10_000;
/// Batches: 300 000 requests.
const BATCHES: usize = 30;
/// Of each twenty: ten with a credential that is known, one with a new one, and nine that must be refused.
const KNOWN: usize = BATCH / 20 * 10;
const NEW: usize = BATCH / 20;
const HOSTILE: usize = BATCH - KNOWN - NEW;

/// MiB by which a sidecar grew.
pub struct Growth {
    /// Over all requests.
    pub whole: f64,
    /// Over the last third of them.
    pub last_third: f64,
}

/// Sends all of it and looks at the process in between.
pub fn growth(runtime: &Runtime, sidecar: &Hosted, callers: &mut Callers<'_>) -> Result<Growth, Failure> {
    let start = sidecar.resident()?;
    let mut after_two_thirds = start;
    let mut used = callers.sign(KNOWN, Credentials::Known, "work")?;
    flood(runtime, sidecar.address, &used.clone().into())?;
    for batch in 1..=BATCHES {
        let known = callers.sign(KNOWN, Credentials::Known, "work")?;
        let new = callers.sign(NEW, Credentials::New, "work")?;
        let hostile = (0..HOSTILE).zip(used.iter().cycle());
        let hostile = hostile.map(|(number, used)| hostile_call(batch * HOSTILE + number, used));
        let hostile: Vec<Call> = hostile.collect::<Result<_, _>>()?;
        // Ten, one and nine of each twenty, among each other.
        let mut calls = Vec::with_capacity(BATCH);
        let mut parts = (known.iter(), new.iter(), hostile.iter());
        for _ in 0..NEW {
            calls.extend(parts.0.by_ref().take(10).cloned());
            calls.extend(parts.1.by_ref().take(1).cloned());
            calls.extend(parts.2.by_ref().take(9).cloned());
        }
        flood(runtime, sidecar.address, &Arc::from(calls))?;
        used = known;
        if batch == BATCHES / 3 * 2 {
            after_two_thirds = sidecar.resident()?;
        }
    }
    let end = sidecar.resident()?;
    Ok(Growth { whole: end - start, last_third: end - after_two_thirds })
}

/// A call that is not to go through, of a kind that goes by its number, and no two alike but for the replays.
fn hostile_call(number: usize, used: &Call) -> Result<Call, Failure> {
    let body = used.body()?;
    let plain = |tool: &str, meta: &str| message(number, tool, &arguments(number, tool), meta);
    Ok(match number % 9 {
        // A proof that was used.
        0 | 1 => Call::refused(body, 401),
        // A proof of other arguments.
        2 => Call::refused(&body.replace(r#""text":"0"#, r#""text":"1"#), 401),
        // No JSON.
        3 => Call::refused(body.get(..body.len() / 2).unwrap_or_default(), 400),
        // No method.
        4 => {
            Call::refused(&format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call{number}"}}"#), 403)
        }
        // No tool.
        5 => Call::refused(&body.replace(r#""name":"work""#, &format!(r#""name":"work{number}""#)), 403),
        // Nothing presented.
        6 => Call::refused(&plain("work", "{}"), 401),
        // A credential of noise.
        7 => {
            let meta = format!(
                r#"{{"tenuo":{{"warrant":"{number:0>400}","signature":"{number:0>86}=="}},"pact/proof":{{"id":"{number:0>22}","iat":1}}}}"#
            );
            Call::refused(&plain("work", &meta), 400)
        }
        // A member twice.
        _ => Call::refused(&body.replacen('{', &format!(r#"{{"id":{number},"#), 1), 400),
    })
}
