//! Acts on a session of the older revisions (protocol M4): its stream, its end, and answers to what a server asked. Each gets a
//! proof of its own, in headers.

use std::sync::Arc;

use pact_mandate::Format;
use pact_verifier::{Act, proof::FreshProof};
use reqwest::{
    Method, Response, StatusCode,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};

use super::{
    Relay,
    answer::{ServerKind, ServerMessage},
    credential::Credential,
    events::Events,
    exchange,
    refused::Refused,
    sign,
    upstream::Upstream,
};
use crate::{
    act::{sign_dpop_act, sign_tenuo_act},
    limits::NOTIFY_TIMEOUT,
};

/// The sidecar's word for a session that no permitted call has made anybody's yet.
const NOT_OWNED: &str = "session_not_owned";

impl Relay {
    /// Listens to everything that the servers say in this session outside of answers, until all of them have ended it.
    pub(super) async fn listen(&self) {
        let mut streams = tokio::task::JoinSet::new();
        for at in 0..self.bridge.upstreams.len() {
            let relay = self.clone();
            streams.spawn(async move { relay.listen_to(at).await });
        }
        while streams.join_next().await.is_some() {}
    }

    /// A session is nobody's before its first permitted call, so this waits for one.
    async fn listen_to(&self, at: usize) {
        if self.session.agreed(at).session.is_none() {
            return;
        }
        let mut permits = self.session.permits();
        loop {
            match self.begin_to_listen(at).await {
                Ok(response) => return self.hear(at, response).await,
                Err(refused) if refused.code() == NOT_OWNED => {
                    if permits.changed().await.is_err() {
                        return;
                    }
                }
                Err(refused) => {
                    tracing::info!(code = refused.code(), upstream = at, "a session's stream was not opened");
                    return;
                }
            }
        }
    }

    async fn begin_to_listen(&self, at: usize) -> Result<Response, Refused> {
        let upstream = self.upstream(at)?;
        let mut heads = self.act_heads(at, |session| Act::listen(session, None)).await?;
        heads.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let response = upstream.act(Method::GET, heads, None, upstream.config.answer_timeout).await?;
        match response.status() {
            StatusCode::OK => Ok(response),
            _ => Err(exchange::refusal(response, upstream.config.idle_timeout).await),
        }
    }

    async fn hear(&self, at: usize, mut response: Response) {
        let mut events = Events::default();
        // Nothing may happen for as long as nothing happens: what stands still is ended by the sidecar.
        while let Ok(Some(chunk)) = response.chunk().await {
            let Ok(messages) = events.feed(&chunk) else { return };
            for message in messages.into_iter().map(ServerMessage::parse) {
                match message {
                    Ok(message) if matches!(message.kind(), ServerKind::Response { .. }) => {
                        tracing::warn!(
                            "a server answered in a session's stream, where nothing was asked; left out"
                        );
                    }
                    Ok(message) => self.beside(at, message).await,
                    Err(_) => return,
                }
            }
        }
    }

    /// Ends the session at every server that has opened one. What a server says against it is its own affair: here it is over.
    pub(super) async fn close(&self) {
        for (at, upstream) in self.bridge.upstreams.iter().enumerate() {
            if self.session.agreed(at).session.is_none() {
                continue;
            }
            let closed = match self.act_heads(at, |session| Act::close(session)).await {
                Ok(heads) => upstream.act(Method::DELETE, heads, None, NOTIFY_TIMEOUT).await,
                Err(refused) => Err(refused),
            };
            match closed {
                Ok(response) => {
                    tracing::debug!(
                        upstream = at,
                        status = response.status().as_u16(),
                        "a session was ended"
                    );
                }
                Err(refused) => {
                    tracing::info!(upstream = at, code = refused.code(), "a session was not ended there");
                }
            }
        }
    }

    /// The headers for one act on the session with a server: its id, the revision, the credential and the proof. Where the
    /// server has opened no session, there is nothing to prove.
    pub(super) async fn act_heads(
        &self,
        at: usize,
        act: impl FnOnce(&str) -> Act,
    ) -> Result<HeaderMap, Refused> {
        let (upstream, agreed) = (self.upstream(at)?, self.session.agreed(at));
        let mut heads = HeaderMap::new();
        if let Some(version) = agreed.version {
            heads.insert("mcp-protocol-version", version);
        }
        let Some(session) = agreed.session else { return Ok(heads) };
        let credential = self.any_credential(upstream).await?;
        let act = act(session.to_str().map_err(|_| unproven("the session's id is no text"))?);
        heads.extend(self.prove_act(upstream, &credential, &act)?);
        heads.insert(super::session::SESSION, session);
        Ok(heads)
    }

    /// No scope covers an act: any credential of the holder's that lives will do.
    async fn any_credential(&self, upstream: &Upstream) -> Result<Arc<Credential>, Refused> {
        let mut fault = None;
        for pocket in self.bridge.wallet.bound_to(&upstream.config.url) {
            match pocket.current(self.bridge.clock.now()).await {
                Ok(credential) => {
                    upstream.check_bound(&credential)?;
                    return Ok(credential);
                }
                Err(unavailable) => fault = Some(unavailable),
            }
        }
        Err(match fault {
            Some(fault) => Refused::here(fault.code(), fault.to_string()),
            None => {
                Refused::here("no_credential", format!("no credential is bound to {}", upstream.config.url))
            }
        })
    }

    fn prove_act(
        &self,
        upstream: &Upstream,
        credential: &Credential,
        act: &Act,
    ) -> Result<HeaderMap, Refused> {
        let (holder, audience) = (&self.bridge.holder, &upstream.config.audience);
        let now = upstream.offset.there(self.bridge.clock.now().wall);
        let id = sign::random()?;
        if credential.format() == Format::Biscuit {
            let proof = sign_dpop_act(holder, credential.text(), act, audience, id, now)
                .map_err(|fault| unproven(fault.to_string()))?;
            let pairs = [("authorization", proof.authorization()), ("dpop", proof.dpop().to_owned())];
            return pairs.into_iter().map(|(name, value)| head(name, &value)).collect();
        }
        let fresh = FreshProof { id, issued_at: now };
        let proof = sign_tenuo_act(holder, credential.text(), act, audience, &fresh)
            .map_err(|fault| unproven(fault.to_string()))?;
        proof.pairs().into_iter().map(|(name, value)| head(name, value)).collect()
    }
}

/// A header that no log shows.
fn head(name: &'static str, value: &str) -> Result<(HeaderName, HeaderValue), Refused> {
    let mut value =
        HeaderValue::from_str(value).map_err(|_| unproven("the credential fits into no header"))?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

fn unproven(why: impl Into<String>) -> Refused {
    Refused::here("not_signed", why)
}
