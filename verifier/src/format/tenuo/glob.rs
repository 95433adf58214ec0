//! Glob patterns: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`. A separator has no meaning of its own: `/data/*` admits
//! `/data/../etc`, which is why a path is better confined by its root.

/// A pattern, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any character.
    Any,
    /// Any number of any characters.
    Star,
    /// A character within (or, negated, outside of) these ranges.
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// What a text is, as a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// One that we judge.
    Glob(Glob),
    /// One with `**`, whose meaning depends on separators; we do not judge it.
    Recursive,
    /// None: a bracket without its end, or more than two stars in a row.
    Malformed,
}

/// The forms whose narrowing is known. Anything with an inner star or several stars only narrows to itself.
enum Shape {
    Whole,
    Prefix,
    Suffix,
    Other,
}

impl Glob {
    /// Takes a pattern apart.
    pub(super) fn parse(text: &str) -> Parsed {
        if text.contains("***") {
            return Parsed::Malformed;
        }
        if text.contains("**") {
            return Parsed::Recursive;
        }
        let chars: Vec<char> = text.chars().collect();
        let mut rest = chars.as_slice();
        let mut tokens = Vec::new();
        while let [first, after @ ..] = rest {
            let (token, left) = match first {
                '*' => (Token::Star, after),
                '?' => (Token::Any, after),
                '[' => match class(after) {
                    Some(found) => found,
                    None => return Parsed::Malformed,
                },
                other => (Token::One(*other), after),
            };
            tokens.push(token);
            rest = left;
        }
        Parsed::Glob(Glob { text: text.to_owned(), tokens })
    }

    /// Steps that matching a text of so many bytes takes at the most.
    pub(super) fn effort(&self, bytes: usize) -> usize {
        self.tokens.len().saturating_mul(bytes)
    }

    /// Whether the whole text has this form.
    pub(super) fn admits(&self, text: &str) -> bool {
        let (mut tokens, mut rest) = (self.tokens.as_slice(), text.chars());
        // Where to go on when it stops fitting: after the last star, which then takes one character more.
        let mut retry: Option<(&[Token], std::str::Chars<'_>)> = None;
        loop {
            let mut ahead = rest.clone();
            match (tokens, ahead.next()) {
                ([Token::Star, after @ ..], _) => {
                    tokens = after;
                    retry = Some((after, rest.clone()));
                    continue;
                }
                ([token, after @ ..], Some(c)) if token.takes(c) => {
                    (tokens, rest) = (after, ahead);
                    continue;
                }
                ([], None) => return true,
                _ => {}
            }
            let Some((after, mut from)) = retry.take() else { return false };
            if from.next().is_none() {
                return false;
            }
            (tokens, rest) = (after, from.clone());
            retry = Some((after, from));
        }
    }

    /// Whether `child` admits no text that this does not, for the forms in which that is known.
    pub(super) fn narrows_to(&self, child: &Glob) -> bool {
        if self == child {
            return true;
        }
        match (self.shape(), child.shape()) {
            (Shape::Prefix, Shape::Prefix | Shape::Whole) => {
                let text = self.text.strip_suffix('*').unwrap_or_default();
                child.tokens.starts_with(self.without_star()) && child.text.starts_with(text)
            }
            (Shape::Suffix, Shape::Suffix | Shape::Whole) => {
                let text = self.text.strip_prefix('*').unwrap_or_default();
                child.tokens.ends_with(self.without_star()) && child.text.ends_with(text)
            }
            _ => false,
        }
    }

    fn shape(&self) -> Shape {
        match self.text.matches('*').count() {
            0 => Shape::Whole,
            1 if self.text.ends_with('*') => Shape::Prefix,
            1 if self.text.starts_with('*') => Shape::Suffix,
            _ => Shape::Other,
        }
    }

    fn without_star(&self) -> &[Token] {
        match self.tokens.as_slice() {
            [rest @ .., Token::Star] | [Token::Star, rest @ ..] => rest,
            all => all,
        }
    }
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Token::One(own) => *own == c,
            Token::Any => true,
            Token::Star => false,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
            }
        }
    }
}

/// A bracket expression after its `[`, and what follows it. The first character of a class is never its end.
fn class(after: &[char]) -> Option<(Token, &[char])> {
    let (negated, body) = match after {
        ['!', body @ ..] => (true, body),
        body => (false, body),
    };
    let end = body.iter().skip(1).position(|c| *c == ']')? + 1;
    let (mut inside, left) = (body.get(..end)?, body.get(end + 1..)?);
    let mut ranges = Vec::new();
    loop {
        inside = match inside {
            [from, '-', to, rest @ ..] => {
                ranges.push((*from, *to));
                rest
            }
            [one, rest @ ..] => {
                ranges.push((*one, *one));
                rest
            }
            [] => return Some((Token::Class { negated, ranges }, left)),
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn glob(text: &str) -> Glob {
        match Glob::parse(text) {
            Parsed::Glob(glob) => glob,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_pattern_admits_the_whole_text_or_nothing() {
        for (pattern, text) in [
            ("/data/*", "/data/a/b"),
            ("*", ""),
            ("a*c*e", "abcde"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[]]", "]"),
            ("*ab", "aab"),
            ("ü*", "üö"),
        ] {
            assert!(glob(pattern).admits(text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("/data/*", "/dat"),
            ("a?c", "ac"),
            ("[a-c]x", "dx"),
            ("[!a-c]x", "ax"),
            ("", "a"),
            ("*ab", "aba"),
        ] {
            assert!(!glob(pattern).admits(text), "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_no_pattern_or_not_ours_is_told_apart() {
        for malformed in ["[", "[a", "[]", "[!", "[!]", "a***"] {
            assert_eq!(Glob::parse(malformed), Parsed::Malformed, "{malformed}");
        }
        assert_eq!(Glob::parse("/data/**"), Parsed::Recursive);
    }

    #[test]
    fn c2_a_class_is_not_cut_in_half_by_a_suffix() {
        assert!(!glob("*b]").narrows_to(&glob("*[ab]")));
        assert!(glob("stag-*").narrows_to(&glob("stag-web-*")));
        assert!(glob("stag-*").narrows_to(&glob("stag-?")));
        assert!(!glob("stag-*").narrows_to(&glob("*-web")));
        assert!(!glob("a*b*").narrows_to(&glob("a*b")));
    }

    proptest! {
        #[test]
        fn narrowing_is_sound(parent in "[ab\\[\\]!*?-]{0,6}", child in "[ab\\[\\]!*?-]{0,8}", text in "[ab\\[\\]!-]{0,6}") {
            if let (Parsed::Glob(parent), Parsed::Glob(child)) = (Glob::parse(&parent), Glob::parse(&child))
                && parent.narrows_to(&child) && child.admits(&text)
            {
                prop_assert!(parent.admits(&text));
            }
        }
    }
}
