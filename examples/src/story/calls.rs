//! The calls: one that is allowed, and each way in which one is not.

use std::{io::Write, time::Duration};

use pact_mandate::Format;
use serde_json::json;

use super::{Attempt, Grant, REFUNDED, Story, StoryError, exported, of_format};
use crate::{mcp::ToolCall, report::Expected};

/// The codes that differ between the formats.
struct Codes {
    over_limit: &'static str,
    other_project: &'static str,
    other_tool: &'static str,
    other_key: &'static str,
    tampered: &'static str,
    expired: &'static str,
}

const TENUO: Codes = Codes {
    over_limit: "tenuo_outside_constraint",
    other_project: "tenuo_outside_constraint",
    other_tool: "tenuo_tool_not_granted",
    other_key: "tenuo_proof_invalid",
    tampered: "tenuo_signature_invalid",
    expired: "tenuo_expired",
};
const BISCUIT: Codes = Codes {
    over_limit: "biscuit_check_failed",
    other_project: "biscuit_check_failed",
    other_tool: "biscuit_check_failed",
    other_key: "dpop_not_the_holder",
    tampered: "biscuit_bad_signature",
    expired: "biscuit_expired",
};

impl<W: Write> Story<'_, W> {
    pub(super) async fn calls(&mut self, format: Format) -> Result<(), StoryError> {
        let codes = if format == Format::Tenuo { TENUO } else { BISCUIT };
        self.report.heading(&format!("agent-b calls tools with its {format} credential"))?;
        let bare = ToolCall::new("refund_order", Attempt::refund(12.5).arguments);
        let answer = self.stage.client.call(&self.stage.url, &bare).await?;
        self.report.call("no credential at all", Expected::Refused("credential_missing"), &answer)?;
        self.allowed_once(format).await?;
        let attempts = [
            ("refunds 20.01 USD, its limit is 20", Attempt::refund(20.01), codes.over_limit),
            (
                "refunds in the project warehouse, which A may and B may not",
                Attempt::refund(12.5).with("project", json!("warehouse")),
                codes.other_project,
            ),
            ("looks up an order, which A may and B may not", Attempt::look_up(), codes.other_tool),
            (
                "adds an argument that the policy does not name",
                Attempt::refund(12.5).with("dry_run", json!(true)),
                "argument_not_named",
            ),
        ];
        for (what, attempt, code) in attempts {
            let answer = self.send(&self.cast.b, self.cast.b_credential(format), &attempt).await?;
            self.report.call(what, Expected::Refused(code), &answer)?;
        }
        let refund = Attempt::refund(12.5);
        let answer = self.send(&self.cast.stranger, self.cast.b_credential(format), &refund).await?;
        self.report.call(
            "another agent uses B's credential with its own key",
            Expected::Refused(codes.other_key),
            &answer,
        )?;
        let tampered = self.cast.b_credential(format).tampered();
        let answer = self.send(&self.cast.b, &tampered, &refund).await?;
        self.report.call(
            "a credential of which one bit was changed",
            Expected::Refused(codes.tampered),
            &answer,
        )?;
        self.expired(format, codes.expired).await
    }

    /// The call that should be allowed, and the very same bytes again.
    async fn allowed_once(&mut self, format: Format) -> Result<(), StoryError> {
        let call = self.signed(&self.cast.b, self.cast.b_credential(format), &Attempt::refund(12.5))?;
        let answer = self.stage.client.call(&self.stage.url, &call).await?;
        self.report.call("refunds 12.50 USD", Expected::Allowed(REFUNDED), &answer)?;
        let answer = self.stage.client.call(&self.stage.url, &call).await?;
        self.report.call("the same request again", Expected::Refused("replayed"), &answer)?;
        Ok(())
    }

    /// A mandate of four seconds, used in the sixth.
    async fn expired(&mut self, format: Format, code: &'static str) -> Result<(), StoryError> {
        let brief = Grant {
            holder: "agent-b",
            scope: &["order.refund@project:shop"],
            limits: &[("amount_usd", "20")],
            delegations: 0,
            seconds: 4,
        };
        let mandate = self.stage.issuer.delegate(self.cast.a, &brief)?;
        let credentials = exported(self.stage, mandate, &self.cast.b)?;
        tokio::time::sleep(Duration::from_secs(5)).await;
        let answer = self.send(&self.cast.b, of_format(&credentials, format), &Attempt::refund(12.5)).await?;
        self.report.call("a credential that ended a second ago", Expected::Refused(code), &answer)?;
        Ok(())
    }
}
