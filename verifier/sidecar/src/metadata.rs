//! What a caller without a credential may know (RFC 9728): where it is, and how a credential is presented here.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde::Serialize;

use crate::{answer::AnswerBody, config::HttpUrl};

/// RFC 9728, 3: the resource's own path follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The protected-resource metadata.
pub(crate) struct ResourceMetadata {
    /// Where it is, as challenges name it.
    url: String,
    paths: Vec<String>,
    resource: String,
}

#[derive(Serialize)]
struct Document<'a> {
    resource: &'a str,
    bearer_methods_supported: [&'static str; 1],
    dpop_signing_alg_values_supported: [&'static str; 1],
    dpop_bound_access_tokens_required: bool,
    /// Not of RFC 9728: the formats in which a mandate may come.
    pact_credential_formats_supported: [&'static str; 2],
}

impl ResourceMetadata {
    /// Of the resource at `audience`, which may be served here under another `path`.
    pub(crate) fn new(audience: &HttpUrl, path: &str) -> ResourceMetadata {
        // RFC 9728, 3: a path that is nothing but the slash is left out.
        let place = |path: &str| format!("{WELL_KNOWN}{}", if path == "/" { "" } else { path });
        ResourceMetadata {
            url: format!("{}{}", audience.origin(), place(audience.path())),
            paths: vec![WELL_KNOWN.to_owned(), place(audience.path()), place(path)],
            resource: audience.to_string(),
        }
    }

    /// Where it is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The answer, if this request asks for it: before any other question (RFC 9728), and never a call. `bearer` says
    /// whether any issuer's tokens may be used without a proof now (protocol P8).
    pub(crate) fn answer<B>(&self, request: &Request<B>, bearer: bool) -> Option<Response<AnswerBody>> {
        let is_asked = self.paths.iter().any(|path| request.uri().path() == path);
        if !is_asked || request.method() != Method::GET || request.uri().query().is_some() {
            return None;
        }
        let document = Document {
            resource: &self.resource,
            bearer_methods_supported: ["header"],
            dpop_signing_alg_values_supported: ["EdDSA"],
            dpop_bound_access_tokens_required: !bearer,
            pact_credential_formats_supported: ["tenuo", "biscuit"],
        };
        // Texts and flags always serialise.
        let body = Full::<Bytes>::from(serde_json::to_vec(&document).unwrap_or_default())
            .map_err(|never| match never {})
            .boxed_unsync();
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
        Some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_9728_it_is_where_the_resource_says_and_at_the_bare_place() {
        for (audience, url) in [
            ("https://t.example/mcp", "https://t.example/.well-known/oauth-protected-resource/mcp"),
            ("https://t.example:8443/", "https://t.example:8443/.well-known/oauth-protected-resource"),
            ("https://t.example", "https://t.example/.well-known/oauth-protected-resource"),
        ] {
            let metadata = ResourceMetadata::new(&HttpUrl::parse(audience).unwrap(), "/inner");
            assert_eq!(metadata.url(), url);
            let ask = |method: &str, path: &str| {
                metadata
                    .answer(&Request::builder().method(method).uri(path).body(()).unwrap(), false)
                    .is_some()
            };
            let path = url.splitn(4, '/').last().unwrap();
            assert!(ask("GET", &format!("/{path}")));
            assert!(ask("GET", WELL_KNOWN) && ask("GET", &format!("{WELL_KNOWN}/inner")));
            for (method, path) in [
                ("POST", WELL_KNOWN),
                ("GET", "/mcp"),
                ("GET", "/.well-known/"),
                ("GET", "/.well-known/oauth-protected-resource/x"),
            ] {
                assert!(!ask(method, path), "{method} {path}");
            }
        }
    }
}
