//! What changes while credentials are out: keys, revocations, and an issuer that falls silent.

use std::{io::Write, time::Duration};

use pact_mandate::Format;
use serde_json::Value;

use super::{Attempt, REFUNDED, Story, StoryError, exported, of_format};
use crate::{agent::Credential, mcp::Answer, report::Expected};

/// How often a call is tried again while something is awaited.
const STEP: Duration = Duration::from_millis(250);
/// Sidecars fetch every 10 s ± 2 (protocol R2), and a fetch takes its moment.
const REVOCATION_SECONDS: u64 = 15;
/// A list counts for 60 s (protocol R5).
const SILENCE_SECONDS: u64 = 62;

impl<W: Write> Story<'_, W> {
    /// Old credentials keep working when the issuer's key changes, and new ones work at once.
    pub(super) async fn rotation(&mut self) -> Result<(), StoryError> {
        self.report.heading("The issuer changes its key")?;
        let key = self.stage.issuer.rotate()?;
        self.report.step(
            "the next key becomes the active one",
            "another key",
            &format!("key {key}"),
            true,
        )?;
        let renewed = exported(self.stage, self.cast.b_mandate, &self.cast.b)?;
        for format in [Format::Tenuo, Format::Biscuit] {
            let answer =
                self.send(&self.cast.b, self.cast.b_credential(format), &Attempt::refund(12.5)).await?;
            let what = format!("B's {format} credential, signed by the old key");
            self.report.call(&what, Expected::Allowed(REFUNDED), &answer)?;
            let answer = self.send(&self.cast.b, of_format(&renewed, format), &Attempt::refund(12.5)).await?;
            let what = format!("a new {format} credential, signed by the new key");
            self.report.call(&what, Expected::Allowed(REFUNDED), &answer)?;
        }
        Ok(())
    }

    /// A's mandate is revoked: what B has of it stops in both formats; what C has does not.
    pub(super) async fn revocation(&mut self) -> Result<(), StoryError> {
        self.report.heading("A's mandate is revoked")?;
        self.stage.issuer.revoke(self.cast.a)?;
        let start = self.stage.clock().now().monotonic;
        for format in [Format::Tenuo, Format::Biscuit] {
            let most = Duration::from_secs(REVOCATION_SECONDS);
            let answer = self.until_refused(Party::B, format, most).await?;
            let passed = self.stage.clock().now().monotonic.since(start);
            let what = format!("B's {format} credential, {:.1} s after the revocation", passed.as_secs_f64());
            self.report.call(&what, Expected::Refused("revoked"), &answer)?;
        }
        let answer = self
            .send(&self.cast.c, of_format(&self.cast.c_credentials, Format::Tenuo), &Attempt::refund(12.5))
            .await?;
        self.report.call(
            "C, under another mandate of the same person",
            Expected::Allowed(REFUNDED),
            &answer,
        )?;
        Ok(())
    }

    /// Without news from the issuer nothing is believed for longer than the bound.
    pub(super) async fn silence(&mut self) -> Result<(), StoryError> {
        self.report.heading("The issuer is stopped")?;
        self.report
            .note("waiting up to a minute: a list counts for 60 s, and no configuration makes it longer")?;
        self.stage.issuer.stop().await;
        let start = self.stage.clock().now().monotonic;
        for format in [Format::Tenuo, Format::Biscuit] {
            let answer = self.until_refused(Party::C, format, Duration::from_secs(SILENCE_SECONDS)).await?;
            let passed = self.stage.clock().now().monotonic.since(start);
            let what =
                format!("C's {format} credential, {:.1} s after the issuer stopped", passed.as_secs_f64());
            self.report.call(&what, Expected::Refused("list_stale"), &answer)?;
        }
        let answer = self.stage.readiness().await?;
        let reason = answer.body.pointer("/issuers/quickstart/list/formats/tenuo/reason");
        let reason = reason.and_then(Value::as_str).unwrap_or_default();
        let status = answer.status.as_u16();
        let right = status == 503 && !reason.is_empty();
        self.report.step(
            "/readyz says why",
            "503 and the reason",
            &format!("{status}, \"{reason}\""),
            right,
        )?;
        Ok(())
    }

    /// Calls again and again, each time with a new proof, until the answer is a refusal or the time is up.
    async fn until_refused(
        &self,
        party: Party,
        format: Format,
        most: Duration,
    ) -> Result<Answer, StoryError> {
        let start = self.stage.clock().now().monotonic;
        loop {
            let (agent, credential): (_, &Credential) = match party {
                Party::B => (&self.cast.b, self.cast.b_credential(format)),
                Party::C => (&self.cast.c, of_format(&self.cast.c_credentials, format)),
            };
            let answer = self.send(agent, credential, &Attempt::refund(12.5)).await?;
            if answer.text().is_none() || self.stage.clock().now().monotonic.since(start) > most {
                return Ok(answer);
            }
            tokio::time::sleep(STEP).await;
        }
    }
}

/// Whose credential is tried.
#[derive(Clone, Copy)]
enum Party {
    B,
    C,
}
