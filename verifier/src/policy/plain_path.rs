//! Paths and addresses that every server reads alike, compared by whole segments.

use crate::limits::MAX_PATH_BYTES;

/// What two servers could read in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotPlain;

/// What an operator must write.
pub(super) const WANTED: &str =
    "plain paths: no empty, '.' or '..' segment, no '\\\\', '%' or control character, no slash at the end";

/// Whether a text is a plain path (`/srv/web/a`, `web/a`) or address (`file:///srv/web/a`).
///
/// It has no empty, `.` or `..` segment, no backslash, no percent sign and no control character; no segment begins or ends
/// with a space or ends with a dot, which some file systems drop; an address has no query and no fragment.
pub(super) fn check(text: &str) -> Result<(), NotPlain> {
    let odd = |c: char| c.is_control() || matches!(c, '\\' | '%');
    if text.is_empty() || text.len() > MAX_PATH_BYTES || text.contains(odd) {
        return Err(NotPlain);
    }
    let path = match address(text) {
        Some(_) if text.contains(['?', '#']) => return Err(NotPlain),
        Some(path) => path,
        None => text,
    };
    let rest = path.strip_prefix('/').unwrap_or(path);
    // The root itself.
    if rest.is_empty() || rest.split('/').all(is_plain_segment) { Ok(()) } else { Err(NotPlain) }
}

/// The path of an address, with its slash.
fn address(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    if scheme.is_empty() || !scheme.bytes().all(is_scheme) {
        return None;
    }
    rest.find('/').and_then(|at| rest.get(at..))
}

fn is_plain_segment(segment: &str) -> bool {
    !segment.is_empty() && segment.trim() == segment && !segment.ends_with('.')
}

/// Whether the plain path is the prefix, or lies below it.
pub(super) fn is_within(path: &str, prefix: &str) -> bool {
    let base = prefix.strip_suffix('/').unwrap_or(prefix);
    path == prefix || path.strip_prefix(base).is_some_and(|rest| rest.starts_with('/'))
}

/// The longest of the prefixes that the text lies below; `None` when there is none.
///
/// A path that another spelling of its letters would put below another prefix is none that is read alike: on a file system
/// that does not tell them apart it lies there.
pub(super) fn longest<'p>(
    text: &str,
    prefixes: impl Iterator<Item = &'p str> + Clone,
) -> Result<Option<&'p str>, NotPlain> {
    check(text)?;
    let found = prefixes.clone().filter(|prefix| is_within(text, prefix)).max_by_key(|prefix| prefix.len());
    let Some(found) = found else { return Ok(None) };
    let folded = text.to_lowercase();
    let mut rivals = prefixes.filter(|other| *other != found && other.len() >= found.len());
    if rivals.any(|other| is_within(&folded, &other.to_lowercase())) {
        Err(NotPlain)
    } else {
        Ok(Some(found))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_plain_or_refused() {
        for good in [
            "/srv/web",
            "/",
            "web/a",
            "a",
            "/srv/.hidden",
            "/srv/a..b",
            "/srv/a b",
            "file:///srv/a",
            "https://h/a",
            "/srv/ä",
            "/a?b#c",
            "...a",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let long = format!("/{}", "a".repeat(MAX_PATH_BYTES));
        for bad in [
            "",
            "..",
            ".",
            "/..",
            "/srv/../etc",
            "/srv/./a",
            "/srv//a",
            "//srv",
            "/srv/",
            "/srv/a\\b",
            "/srv/%2e%2e/a",
            "/srv/a%00",
            "/srv/a\0",
            "/srv/a\n",
            "a/..",
            "/srv/... ",
            "/srv/a./b",
            "/srv/a /b",
            "/srv/ a",
            "file:///a/../b",
            "file:///a?b",
            "file:///a#b",
            "file:////a",
            "://a",
            "a b://c",
            "x://",
            "/srv/a\u{85}",
            &long,
        ] {
            assert_eq!(check(bad), Err(NotPlain), "{bad}");
        }
    }

    #[test]
    fn whole_segments_decide_and_the_longest_prefix_wins() {
        let prefixes = ["/srv", "/srv/web", "/srv/web/docs", "file:///srv"];
        for (path, wanted) in [
            ("/srv", Some("/srv")),
            ("/srv/a", Some("/srv")),
            ("/srv/webs", Some("/srv")),
            ("/srv/web", Some("/srv/web")),
            ("/srv/web/a", Some("/srv/web")),
            ("/srv/web/docs/a", Some("/srv/web/docs")),
            ("file:///srv/a", Some("file:///srv")),
            ("/srvs", None),
            ("srv", None),
            ("/", None),
            ("file://other/srv/a", None),
        ] {
            assert_eq!(longest(path, prefixes.into_iter()), Ok(wanted), "{path}");
        }
        assert_eq!(longest("/a", ["/"].into_iter()), Ok(Some("/")));
        assert_eq!(longest("a", ["/"].into_iter()), Ok(None));
    }

    #[test]
    fn a_spelling_that_some_file_systems_put_below_another_prefix_is_refused() {
        let prefixes = ["/srv", "/srv/secret"];
        assert_eq!(longest("/srv/SECRET/a", prefixes.into_iter()), Err(NotPlain));
        assert_eq!(longest("/srv/secrets", prefixes.into_iter()), Ok(Some("/srv")));
        assert_eq!(longest("/SRV/a", prefixes.into_iter()), Ok(None));
    }

    proptest! {
        #[test]
        fn what_is_within_a_prefix_begins_with_its_segments(
            path in "/?([a.%\\\\]{0,3}/){0,3}[a.]{0,2}",
            prefix in "/?(a{1,2}/){0,2}a{0,1}",
        ) {
            if check(&path).is_ok() && check(&prefix).is_ok() {
                let segments = |text: &str| text.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect::<Vec<_>>();
                let (own, base) = (segments(&path), segments(&prefix));
                let alike = path.starts_with('/') == prefix.starts_with('/');
                prop_assert_eq!(is_within(&path, &prefix), alike && own.starts_with(&base));
                prop_assert!(!own.iter().any(|segment| matches!(segment.as_str(), "." | "..")));
            }
        }
    }
}
