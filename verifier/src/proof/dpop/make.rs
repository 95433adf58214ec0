//! The holder's side of the same bytes.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{
    Asked, Json, PublicKey, Signature, UnixTime,
    canonical::{self, CanonicalError},
    json::{Member, Number},
};

use super::{ALGORITHM, Audience, METHOD, TYPE, arguments_hash, token_hash};

/// Everything that a proof says.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The key that will sign.
    pub holder: &'a PublicKey,
    /// The token's text exactly as it will be sent.
    pub token_text: &'a str,
    /// The call.
    pub asked: &'a Asked,
    /// The sidecar's public URL.
    pub audience: &'a Audience,
    /// A new id for each proof, of 1 to 128 bytes: 16 random bytes in base64url serve.
    pub jti: &'a str,
    /// When.
    pub issued_at: UnixTime,
}

impl Draft<'_> {
    /// The text to sign: header and claims, each canonical JSON in base64url, with a dot between.
    pub fn signing_input(&self) -> Result<String, CanonicalError> {
        self.signing_input_of(METHOD)
    }

    /// The same for a request of another method.
    pub(crate) fn signing_input_of(&self, method: &str) -> Result<String, CanonicalError> {
        Ok(format!("{}.{}", encode(&self.header())?, encode(&self.claims(method)?)?))
    }

    fn header(&self) -> Json {
        let jwk =
            object([("crv", text("Ed25519")), ("kty", text("OKP")), ("x", text(self.holder.to_string()))]);
        object([("alg", text(ALGORITHM)), ("jwk", jwk), ("typ", text(TYPE))])
    }

    fn claims(&self, method: &str) -> Result<Json, CanonicalError> {
        Ok(object([
            ("ath", text(token_hash(self.token_text))),
            ("htm", text(method)),
            ("htu", text(self.audience.as_str())),
            ("iat", Json::Number(Number::from_u64(self.issued_at.seconds()))),
            ("jti", text(self.jti)),
            ("pact_args", text(arguments_hash(self.asked)?)),
            ("pact_params", text(URL_SAFE_NO_PAD.encode(self.asked.params))),
            ("pact_tool", text(self.asked.tool.as_str())),
        ]))
    }
}

/// The proof: what was signed, and the signature.
pub fn assemble(signing_input: &str, signature: &Signature) -> String {
    format!("{signing_input}.{signature}")
}

fn encode(value: &Json) -> Result<String, CanonicalError> {
    let mut bytes = Vec::new();
    canonical::write(value, &mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn text(text: impl Into<String>) -> Json {
    Json::String(text.into())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| Member::new(name, value)).collect())
}
