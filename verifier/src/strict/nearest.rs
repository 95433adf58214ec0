//! The known name that a mistyped one is nearest to.

/// Further than this many edits, a name is another name and no slip of the hand.
const MOST_EDITS: usize = 3;

/// The known name with the fewest edits from `word`, if it is near at all.
pub(crate) fn to<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|name| (edits(word, name), *name)).filter(|(edits, name)| {
        // A name of two letters is "near" any other of two.
        *edits <= MOST_EDITS && *edits < name.len()
    });
    near.min().map(|(_, name)| name)
}

/// How many characters must be added, removed or replaced to make `b` of `a` (Levenshtein). The work grows with the
/// product of their lengths: it is for keys of a configuration, which is bounded.
pub fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (at, from) in a.chars().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        let mut next = vec![left];
        for (to, above) in b.chars().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(from != to)).min(left + 1).min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_levenshteins() {
        for (a, b, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("a", "a", 0)]
        {
            assert_eq!((edits(a, b), edits(b, a)), (distance, distance), "{a} {b}");
        }
    }

    #[test]
    fn only_a_near_name_is_named() {
        assert_eq!(to("unjugded", &["action", "unjudged"]), Some("unjudged"));
        assert_eq!(to("ab", &["cd"]), None);
        assert_eq!(to("completely", &["action"]), None);
    }
}
