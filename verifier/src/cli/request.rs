//! The call that is judged: a JSON-RPC request, or its parts.

use std::path::Path;

use pact_mandate::{Asked, Json, json::Member};
use pact_verifier::{
    Presented, PresentedProof, Refusal,
    carriage::{self, Headers},
    proof::params_digest,
};

use super::{
    Question, Unjudged,
    inputs::{read_bytes, read_text},
};

/// What was asked, and with which credential.
pub(crate) struct Request {
    pub(crate) carried: Result<(Presented, PresentedProof), Refusal>,
    pub(crate) asked: Asked,
}

pub(crate) fn read(question: &Question) -> Result<Request, Unjudged> {
    match (&question.request, &question.credential) {
        (Some(path), _) => whole(path, question.headers.as_deref()),
        (None, Some(credential)) => of_parts(question, credential),
        (None, None) => Err(Unjudged::new("--request", "missing")),
    }
}

/// A `tools/call` request with its `_meta`, and perhaps headers.
fn whole(path: &Path, headers: Option<&Path>) -> Result<Request, Unjudged> {
    let wrong = |why: &str| Unjudged::new(path.display(), why);
    let request = Json::parse(&read_bytes(path)?).map_err(|error| Unjudged::new(path.display(), error))?;
    let method = request.get("method").and_then(Json::as_str).ok_or_else(|| wrong("no JSON-RPC request"))?;
    if method != "tools/call" {
        return Err(wrong("only a request tools/call can be judged"));
    }
    let params = request.get("params").ok_or_else(|| wrong("the request has no params"))?;
    let tool = params.get("name").and_then(Json::as_str).ok_or_else(|| wrong("params has no name"))?;
    let lines = headers.map(read_text).transpose()?.unwrap_or_default();
    let asked = asked(tool, params).map_err(|error| Unjudged::new(path.display(), error))?;
    Ok(Request { carried: read_carried(params, &lines), asked })
}

fn read_carried(params: &Json, lines: &str) -> Result<(Presented, PresentedProof), Refusal> {
    let of = |name: &str| -> Vec<&[u8]> {
        let lines = lines.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(found, _)| found.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().as_bytes())
            .collect()
    };
    let (authorization, dpop) = (of("Authorization"), of("DPoP"));
    let headers = Headers { authorization: &authorization, dpop: &dpop, ..Headers::default() };
    carriage::read(Some(params), headers)
}

/// The request that these parts would have made.
fn of_parts(question: &Question, credential: &Path) -> Result<Request, Unjudged> {
    let text = read_text(credential)?.trim().to_owned();
    let proof = question.proof.as_deref().map(read_bytes).transpose()?;
    let proof = proof.map(|bytes| Json::parse(&bytes)).transpose();
    let proof = proof.map_err(|error| Unjudged::new("--proof", error))?;
    let meta = match question.format.as_deref() {
        Some("tenuo") => tenuo_meta(text, proof.as_ref()),
        Some("biscuit") => biscuit_meta(text, proof),
        _ => return Err(Unjudged::new("--format", "tenuo or biscuit")),
    };
    let arguments = Json::parse(question.args.as_bytes()).map_err(|error| Unjudged::new("--args", error))?;
    let tool = question.tool.clone().unwrap_or_default();
    let params = Json::Object(vec![
        Member::new("name", Json::String(tool.clone())),
        Member::new("arguments", arguments),
        Member::new("_meta", Json::Object(meta)),
    ]);
    let asked = asked(&tool, &params).map_err(|error| Unjudged::new("--args", error))?;
    Ok(Request { carried: carriage::read(Some(&params), Headers::default()), asked })
}

/// The signature stands beside the warrant, the rest of the proof apart (protocol P1).
fn tenuo_meta(warrant: String, proof: Option<&Json>) -> Vec<Member> {
    let mut tenuo = vec![Member::new("warrant", Json::String(warrant))];
    let mut rest = Vec::new();
    for member in proof.and_then(Json::members).unwrap_or_default() {
        let part = if member.name == "signature" { &mut tenuo } else { &mut rest };
        part.push(member.clone());
    }
    let mut meta = vec![Member::new("tenuo", Json::Object(tenuo))];
    if !rest.is_empty() {
        meta.push(Member::new("pact/proof", Json::Object(rest)));
    }
    meta
}

fn biscuit_meta(token: String, proof: Option<Json>) -> Vec<Member> {
    let mut meta = vec![Member::new("pact/credential", Json::String(token))];
    meta.extend(proof.map(|proof| Member::new("pact/proof", proof)));
    meta
}

fn asked(tool: &str, params: &Json) -> Result<Asked, pact_mandate::canonical::CanonicalError> {
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| Json::Object(Vec::new()));
    Ok(Asked { tool: tool.to_owned(), arguments, params: params_digest("tools/call", params)? })
}
