//! A person grants to A, A hands on to B, and each agent gets its credentials.

use std::io::Write;

use pact_mandate::Format;

use super::{Cast, StoryError, exported};
use crate::{
    agent::Agent,
    report::Report,
    stage::{Grant, Stage},
};

const A: Grant<'_> = Grant {
    holder: "agent-a",
    scope: &["order.read@project:shop", "order.refund@project:shop", "order.refund@project:warehouse"],
    limits: &[("amount_usd", "100")],
    delegations: 1,
    seconds: 3600,
};
const B: Grant<'_> = Grant {
    holder: "agent-b",
    scope: &["order.refund@project:shop"],
    limits: &[("amount_usd", "20")],
    delegations: 0,
    seconds: 1800,
};
const C: Grant<'_> = Grant { holder: "agent-c", ..A };

pub(super) fn grant<W: Write>(stage: &mut Stage, report: &mut Report<W>) -> Result<Cast, StoryError> {
    report.heading("A person grants")?;
    let a = stage.issuer.mint("boss@example.org", &A)?;
    report.step(
        "boss@example.org mints a mandate for agent-a: read and refund orders, at most 100 USD a call",
        "a mandate",
        &format!("mandate {a}"),
        true,
    )?;
    let wider = Grant { limits: &[("amount_usd", "500")], ..B };
    let (happened, refused) = match stage.issuer.delegate(a, &wider) {
        Err(refusal) => (refusal.to_string(), true),
        Ok(id) => (format!("mandate {id}"), false),
    };
    report.step("agent-a hands on 500 USD a call", "refused", &happened, refused)?;
    let b_mandate = stage.issuer.delegate(a, &B)?;
    report.step(
        "agent-a hands on less to agent-b: refunds in shop alone, at most 20 USD",
        "a mandate",
        &format!("mandate {b_mandate}"),
        true,
    )?;
    let c_mandate = stage.issuer.mint("boss@example.org", &C)?;
    let (b, c, stranger) = (Agent::new()?, Agent::new()?, Agent::new()?);
    let b_credentials = exported(stage, b_mandate, &b)?;
    let c_credentials = exported(stage, c_mandate, &c)?;
    for (format, credential) in [Format::Tenuo, Format::Biscuit].into_iter().zip(&b_credentials) {
        let length = credential.text().len();
        report.step(
            &format!("agent-b's mandate is exported as {format}"),
            "a credential",
            &format!("{length} characters"),
            length > 0,
        )?;
    }
    Ok(Cast { a, b, b_mandate, b_credentials, c, c_credentials, stranger })
}
