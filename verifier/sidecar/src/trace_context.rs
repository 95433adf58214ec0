//! W3C Trace Context, version 00: it is carried on to the tool server and named in receipts. Anybody can write it, so nothing
//! depends on it; what is malformed is left out, as that recommendation wants.

use http::{HeaderMap, HeaderName, HeaderValue};
use pact_mandate::{Json, hex};
use pact_verifier::receipt::Hex;

const PARENT: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");
/// Characters that every hop must pass on (W3C Trace Context, 3.3.1.5); more is left out.
const MAX_STATE_CHARS: usize = 512;

/// The headers that the tool server gets.
pub(crate) fn carry(from: &HeaderMap, to: &mut HeaderMap) {
    let Some(parent) = single(from, &PARENT).filter(|parent| trace_of(parent.as_bytes()).is_some()) else {
        return;
    };
    to.insert(PARENT, parent.clone());
    if let Some(state) = single(from, &STATE).filter(|state| is_state(state)) {
        to.insert(STATE, state.clone());
    }
}

/// The trace that a request belongs to, by its header or by `params._meta`.
pub(crate) fn trace(headers: &HeaderMap, params: Option<&Json>) -> Option<Hex<16>> {
    let header = single(headers, &PARENT).map(HeaderValue::as_bytes);
    let member = params.and_then(|params| params.get("_meta")?.get("traceparent")?.as_str());
    header.and_then(trace_of).or_else(|| trace_of(member?.as_bytes()))
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// `00-` trace id `-` parent id `-` flags, in lower-case hex; ids of zeros are none.
fn trace_of(parent: &[u8]) -> Option<Hex<16>> {
    let text = std::str::from_utf8(parent).ok()?;
    let mut parts = text.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let trace = hex::decode_exactly::<16>(trace)?;
    let span = hex::decode_exactly::<8>(span)?;
    hex::decode_exactly::<1>(flags)?;
    let is_one = version == "00" && parts.next().is_none() && trace != [0; 16] && span != [0; 8];
    is_one.then_some(Hex(trace))
}

fn is_state(state: &HeaderValue) -> bool {
    state.len() <= MAX_STATE_CHARS && state.as_bytes().iter().all(|byte| (0x20..0x7f).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn headers(values: &[(&HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn carried(from: &[(&HeaderName, &str)]) -> HeaderMap {
        let mut to = HeaderMap::new();
        carry(&headers(from), &mut to);
        to
    }

    #[test]
    fn a_trace_is_carried_on_as_it_came() {
        let both = [(&PARENT, GOOD), (&STATE, "a=1,b=2")];
        assert_eq!(carried(&both), headers(&both));
        assert_eq!(trace(&headers(&both), None).map(|Hex(trace)| trace[0]), Some(0x4b));
    }

    #[test]
    fn what_is_malformed_is_left_out() {
        for bad in [
            "",
            "00",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        ] {
            assert!(carried(&[(&PARENT, bad), (&STATE, "a=1")]).is_empty(), "{bad}");
            assert!(trace(&headers(&[(&PARENT, bad)]), None).is_none(), "{bad}");
        }
        assert!(carried(&[(&STATE, "a=1")]).is_empty());
        assert!(carried(&[(&PARENT, GOOD), (&PARENT, GOOD)]).is_empty(), "two are none");
        assert_eq!(carried(&[(&PARENT, GOOD), (&STATE, &"x".repeat(513))]).len(), 1);
    }

    #[test]
    fn the_meta_of_a_call_counts_where_there_is_no_header() {
        let params = Json::parse(format!(r#"{{"_meta":{{"traceparent":"{GOOD}"}}}}"#).as_bytes()).unwrap();
        assert!(trace(&HeaderMap::new(), Some(&params)).is_some());
        let other = "00-11111111111111111111111111111111-00f067aa0ba902b7-01";
        let found = trace(&headers(&[(&PARENT, other)]), Some(&params));
        assert_eq!(found.map(|Hex(trace)| trace), Some([0x11; 16]));
    }
}
