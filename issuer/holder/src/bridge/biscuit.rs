//! What a holder reads of a Biscuit: the end and the actions that its last block states, in the shape in which our issuer
//! writes them (board rule 5.3). Nothing here is verified; a token of another shape says nothing.

use biscuit_auth::UnverifiedBiscuit;
use pact_mandate::{Action, Project, UnixTime};

use super::credential::Reach;

/// For what a token is good and when it ends, as far as it says; `None` when it is no token.
pub(super) fn unverified_words(text: &str) -> Option<(Reach, Option<UnixTime>)> {
    let token = UnverifiedBiscuit::from_base64(text.strip_prefix("biscuit:").unwrap_or(text)).ok()?;
    let blocks: Vec<String> =
        (0..token.block_count()).filter_map(|at| token.print_block_source(at).ok()).collect();
    let ends = blocks.iter().flat_map(|block| block.lines()).filter_map(end).min();
    let reach = blocks.last().and_then(|block| block.lines().find_map(pairs)).map(Reach::Pairs);
    Some((reach.unwrap_or_default(), ends))
}

/// `check if time($t), $t <= 2027-01-15T08:30:00Z;`
fn end(line: &str) -> Option<UnixTime> {
    let date = line.strip_prefix("check if time($t), $t <= ")?;
    UnixTime::from_rfc3339(date.trim_end_matches(';'))
}

/// `check if tool("a"), project("p") or tool("b"), project("q");`
fn pairs(line: &str) -> Option<Vec<(Action, Option<Project>)>> {
    let queries = line.strip_prefix("check if ")?.trim_end_matches(';').split(" or ");
    queries.map(pair).collect()
}

fn pair(query: &str) -> Option<(Action, Option<Project>)> {
    let rest = query.strip_prefix("tool(\"")?;
    let (action, rest) = rest.split_once("\"), project(\"")?;
    let project = rest.strip_suffix("\")")?;
    Some((action.parse().ok()?, Some(project.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use biscuit_auth::{Biscuit, KeyPair, builder::BlockBuilder};

    use super::*;

    fn token(code: &str) -> String {
        let first = Biscuit::builder().code("right(\"web\", \"task.read\");").unwrap();
        let token = first.build(&KeyPair::new()).unwrap();
        token.append(BlockBuilder::new().code(code).unwrap()).unwrap().to_base64().unwrap()
    }

    #[test]
    fn a_token_of_our_shape_says_for_what_it_is_good_and_until_when() {
        let code = r#"
            holder("x");
            check if tool("task.read"), project("web") or tool("task.work"), project("shop");
            check if time($t), $t <= 2027-01-15T08:30:00Z;
        "#;
        let (reach, ends) = unverified_words(&token(code)).unwrap();
        let pair = |action: &str, project: &str| (action.parse().unwrap(), Some(project.parse().unwrap()));
        assert_eq!(reach, Reach::Pairs(vec![pair("task.read", "web"), pair("task.work", "shop")]));
        assert_eq!(ends.unwrap().to_string(), "2027-01-15T08:30:00Z");
    }

    #[test]
    fn any_other_token_says_nothing() {
        let (reach, ends) = unverified_words(&token("check if tool($x), [\"a\"].contains($x);")).unwrap();
        assert_eq!((reach, ends), (Reach::Unknown, None));
        assert_eq!(unverified_words("no token"), None);
    }
}
