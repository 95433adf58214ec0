//! The judged bytes without the credential and the proof (protocol M2): members of `params._meta` are cut out by their
//! spans; nothing is serialised again, so every other byte stays as it was judged.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use pact_mandate::{Json, json::Member};

/// `body` without the members of `params._meta` that `is_ours` names. `params` was parsed from `body`.
pub(super) fn without_members(body: &Bytes, params: Option<&Json>, is_ours: impl Fn(&str) -> bool) -> Bytes {
    let meta = params.and_then(|params| params.get("_meta")).and_then(Json::members).unwrap_or_default();
    let holes = holes(meta, is_ours);
    if holes.is_empty() {
        return body.clone();
    }
    let mut kept = BytesMut::with_capacity(body.len());
    let mut from = 0;
    for hole in holes {
        kept.extend_from_slice(body.get(from..hole.start).unwrap_or_default());
        from = hole.end;
    }
    kept.extend_from_slice(body.get(from..).unwrap_or_default());
    kept.freeze()
}

/// The spans to leave out, in order. A member goes with the comma behind it, or, where none that stays follows, with the
/// comma before it.
fn holes(members: &[Member], is_ours: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let ours: Vec<bool> = members.iter().map(|member| is_ours(&member.name)).collect();
    let last_kept = ours.iter().rposition(|ours| !ours);
    let inner = members.iter().zip(members.iter().skip(1)).zip(&ours).enumerate();
    let mut holes: Vec<Range<usize>> = inner
        .filter(|(at, (_, ours))| **ours && last_kept.is_some_and(|kept| *at < kept))
        .map(|(_, ((member, next), _))| member.span.start..next.span.start)
        .collect();
    let tail = match last_kept {
        Some(kept) if kept + 1 == members.len() => None,
        Some(kept) => members.get(kept).map(|member| member.span.end),
        None => members.first().map(|member| member.span.start),
    };
    if let (Some(start), Some(last)) = (tail, members.last()) {
        holes.push(start..last.span.end);
    }
    holes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> String {
        let body = Bytes::copy_from_slice(text.as_bytes());
        let message = Json::parse(&body).unwrap();
        let cut = without_members(&body, message.get("params"), |name| matches!(name, "a" | "b"));
        String::from_utf8(cut.to_vec()).unwrap()
    }

    #[test]
    fn m2_members_go_with_one_comma_and_nothing_else_changes() {
        for (whole, left) in [
            (r#"{"params": {"_meta": {"a":1}}}"#, r#"{"params": {"_meta": {}}}"#),
            (
                r#"{"params":{"_meta":{ "a" : 1 , "x":2 },"q":1.0}}"#,
                r#"{"params":{"_meta":{ "x":2 },"q":1.0}}"#,
            ),
            (r#"{"params":{"_meta":{"x":2 ,"b":{"a":[]}}}}"#, r#"{"params":{"_meta":{"x":2}}}"#),
            (
                r#"{"params":{"_meta":{"a":1,"x":2,"b":3,"y":4,"a2":5}}}"#,
                r#"{"params":{"_meta":{"x":2,"y":4,"a2":5}}}"#,
            ),
            (r#"{"params":{"_meta":{"\u0061":1,"x":2}}}"#, r#"{"params":{"_meta":{"x":2}}}"#),
            (r#"{"params":{"arguments":{"a":1}}}"#, r#"{"params":{"arguments":{"a":1}}}"#),
            (r#"{"a":1,"params":{"a":2}}"#, r#"{"a":1,"params":{"a":2}}"#),
        ] {
            assert_eq!(cut(whole), left);
        }
    }

    proptest! {
        #[test]
        fn m2_what_is_left_is_the_message_without_those_members(
            names in proptest::collection::btree_set("[abxyz]", 0..6),
            space in "[ \n\t]{0,2}",
        ) {
            let member = |name: &String| format!("\"{name}\"{space}:{space}{{\"a\":[1.0,\"\\u00e9\"]}}");
            let join = |names: Vec<&String>| {
                names.into_iter().map(member).collect::<Vec<_>>().join(&format!("{space},{space}"))
            };
            let wrap = |meta: String| format!("{{\"params\":{{\"_meta\":{{{space}{meta}{space}}},\"n\":1}}}}");
            let left = cut(&wrap(join(names.iter().collect())));
            let wanted = wrap(join(names.iter().filter(|name| !matches!(name.as_str(), "a" | "b")).collect()));
            let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(plain(&left), plain(&wanted));
            prop_assert!(Json::parse(left.as_bytes()).is_ok());
        }
    }
}
