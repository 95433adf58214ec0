//! What goes into the `_meta` of a request: a credential with a proof for this very call, or a credential alone.

use pact_mandate::{Asked, Format, Json, UnixTime};
use pact_verifier::proof::{Audience, FreshProof};
use serde_json::json;

use super::{
    credential::Credential,
    message::{Members, Message},
    refused::Refused,
};
use crate::{
    Holder, SignError,
    call::{TOOLS_CALL, tool_call_with},
    sign_dpop, sign_tenuo,
};

/// The call that a request makes, as a sidecar judges it: a tool and its arguments, or a method of its own whose arguments
/// are the params without `_meta`.
pub(crate) fn asked(message: &Message) -> Result<Asked, Refused> {
    let nothing = Json::Object(Vec::new());
    let method = message.method().unwrap_or_default();
    let params = message.params().unwrap_or(&nothing);
    let (tool, arguments) = if method == TOOLS_CALL {
        let tool = message.param("name").and_then(Json::as_str);
        let tool = tool.ok_or_else(|| Refused::here("not_signed", "a tools/call names its tool"))?;
        (tool, message.param("arguments").cloned().unwrap_or(nothing.clone()))
    } else {
        let members = params.members().unwrap_or_default().iter();
        (method, Json::Object(members.filter(|member| member.name != "_meta").cloned().collect()))
    };
    tool_call_with(tool, arguments, method, params).map_err(|fault| not_signed(&fault))
}

/// A credential and its proof, with an id and a time of its own.
pub(crate) fn proven(
    holder: &Holder,
    credential: &Credential,
    action: &pact_mandate::Action,
    asked: &Asked,
    audience: &Audience,
    now: UnixTime,
) -> Result<Members, Refused> {
    let id = random()?;
    if credential.format() == Format::Biscuit {
        let proof = sign_dpop(holder, credential.text(), asked, audience, id, now)
            .map_err(|fault| not_signed(&fault))?;
        return Members::of(&proof.meta()).map_err(|fault| no_form(&fault));
    }
    let fresh = FreshProof { id, issued_at: now };
    let proof = sign_tenuo(holder, credential.text(), action, asked, audience, &fresh)
        .map_err(|fault| not_signed(&fault))?;
    Members::of(&proof).map_err(|fault| no_form(&fault))
}

/// A credential that is shown, and not used.
pub(crate) fn shown(credential: &Credential) -> Result<Members, Refused> {
    let members = match credential.format() {
        Format::Biscuit => json!({"pact/credential": credential.text()}),
        _ => json!({"tenuo": {"warrant": credential.text()}}),
    };
    Members::of(&members).map_err(|fault| no_form(&fault))
}

pub(super) fn random() -> Result<[u8; 16], Refused> {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes);
    filled
        .map_err(|fault| Refused::here("not_signed", format!("the system gives no random bytes: {fault}")))?;
    Ok(bytes)
}

fn not_signed(fault: &SignError) -> Refused {
    Refused::here("not_signed", fault.to_string())
}

fn no_form(fault: &serde_json::Error) -> Refused {
    Refused::here("not_signed", fault.to_string())
}
