//! From a connection to one whole body, inside the bounds. Nothing is parsed here.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header, request::Parts};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::{
    config::Bounds,
    fault::ShapeFault,
    header::{SESSION, check_single},
};

/// A request whose head has the right shape and whose body is here.
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Checks the head and reads the body, in bounded time and memory.
pub(crate) async fn receive<B>(
    request: Request<B>,
    path: &str,
    origin: &str,
    bounds: &Bounds,
) -> Result<Received, ShapeFault>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = request.into_parts();
    check_target(&head, path)?;
    check_single(&head.headers)?;
    check_origin(&head.headers, origin)?;
    if head.method != Method::POST {
        check_empty(&body)?;
        return Ok(Received { method: head.method, headers: head.headers, body: Bytes::new() });
    }
    check_content(&head.headers)?;
    let limit = bounds.body_bytes;
    // The announced length is refused before a byte is read; an unannounced one while it comes.
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(ShapeFault::BodyTooLarge { limit });
    }
    let whole = tokio::time::timeout(bounds.body_timeout, Limited::new(body, limit).collect());
    match whole.await {
        Err(_) => Err(ShapeFault::BodyTooSlow { limit: bounds.body_timeout }),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ShapeFault::BodyTooLarge { limit }),
        Ok(Err(_)) => Err(ShapeFault::BodyBroken),
        Ok(Ok(collected)) => {
            Ok(Received { method: head.method, headers: head.headers, body: collected.to_bytes() })
        }
    }
}

/// One path, byte for byte: what another reader might normalise is another path.
fn check_target(head: &Parts, path: &str) -> Result<(), ShapeFault> {
    let uri = &head.uri;
    if uri.scheme().is_some() || uri.authority().is_some() || uri.query().is_some() {
        return Err(ShapeFault::TargetNotPlain);
    }
    if uri.path() != path {
        return Err(ShapeFault::NoSuchPath);
    }
    // GET and DELETE are for sessions; where none is named there is nothing to get or to end.
    let in_session =
        head.headers.contains_key(SESSION) && matches!(head.method, Method::GET | Method::DELETE);
    if head.method == Method::POST || in_session { Ok(()) } else { Err(ShapeFault::MethodNotAllowed) }
}

/// What announces no body has none.
fn check_empty<B: Body>(body: &B) -> Result<(), ShapeFault> {
    if body.is_end_stream() { Ok(()) } else { Err(ShapeFault::BodyNotExpected) }
}

/// MCP 2026-07-28, transports: a browser says which page calls. Agents say nothing.
fn check_origin(headers: &HeaderMap, origin: &str) -> Result<(), ShapeFault> {
    match headers.get(header::ORIGIN) {
        Some(said) if said != origin => Err(ShapeFault::OriginNotAllowed),
        _ => Ok(()),
    }
}

fn check_content(headers: &HeaderMap) -> Result<(), ShapeFault> {
    if headers.contains_key(header::CONTENT_ENCODING) {
        return Err(ShapeFault::ContentEncoding);
    }
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if is_json_in_utf8(content_type) { Ok(()) } else { Err(ShapeFault::ContentType) }
}

/// `application/json`, and no parameter but `charset=utf-8`.
fn is_json_in_utf8(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/json"));
    let is_utf8 = |parameter: &str| {
        parameter.eq_ignore_ascii_case("charset=utf-8") || parameter.eq_ignore_ascii_case("charset=\"utf-8\"")
    };
    is_json && parts.next().is_none_or(is_utf8) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_in_utf8_is_read() {
        for good in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(is_json_in_utf8(good), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/json; charset=utf-16",
            "application/json-seq",
            "application/json; charset=utf-8; charset=utf-16",
            "application/json, text/plain",
        ] {
            assert!(!is_json_in_utf8(bad), "{bad}");
        }
    }

    #[test]
    fn m1_a_path_in_another_spelling_is_another_path() {
        let check = |method: &str, target: &str| {
            let (head, ()) = Request::builder().method(method).uri(target).body(()).unwrap().into_parts();
            check_target(&head, "/mcp").map_err(|fault| fault.code())
        };
        assert_eq!(check("POST", "/mcp"), Ok(()));
        for path in [
            "//mcp",
            "/mcp/",
            "/MCP",
            "/%6dcp",
            "/mcp/../admin",
            "/x/../mcp",
            "/mcp;x",
            "/",
            "/livez",
            "/readyz",
        ] {
            assert_eq!(check("POST", path), Err("no_such_path"), "{path}");
        }
        assert_eq!(check("POST", "/mcp?x=1"), Err("target_not_plain"));
        assert_eq!(check("POST", "http://other/mcp"), Err("target_not_plain"));
        for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
            assert_eq!(check(method, "/mcp"), Err("method_not_allowed"), "{method}");
        }
    }
}
