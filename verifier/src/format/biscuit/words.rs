//! The facts of a token that mean something to a verifier by themselves: holder, mandate, source; and its end.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{IssuerId, MandateId, PublicKey, UnixTime};

use super::{
    defect::Defect,
    fault::{BiscuitFault, Place},
    syntax::{Binary, Block, Check, Expression, Kind, Operation, Predicate, Rule, Term},
};

/// Names that only a verifier may state about a request (`operation` and `resource` are those of other ecosystems).
pub(super) const REQUEST: [&str; 6] = ["tool", "project", "arg", "time", "operation", "resource"];
/// Names that only facts may state, never rules.
pub(super) const STATED: [&str; 3] = ["holder", "mandate", "source"];

/// What the facts of a token say.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Who must prove possession (protocol C3).
    pub(super) holder: Option<PublicKey>,
    /// The mandates it was exported from.
    pub(super) mandates: Vec<MandateId>,
    /// The issuer that its mandate was imported from (protocol C6).
    pub(super) source: Option<IssuerId>,
    /// The earliest end that a block gives it.
    pub(super) ends: Option<UnixTime>,
}

impl Words {
    /// Reads all blocks.
    pub(super) fn of(blocks: &[Block<'_>]) -> Result<Words, BiscuitFault> {
        let mut words = Words::default();
        for (at, block) in blocks.iter().enumerate() {
            for (fact, predicate) in block.facts.iter().enumerate() {
                let place = Place::Fact { block: at, fact };
                words.take(predicate, at).map_err(|defect| place.refuse(defect))?;
            }
            let ends = block.checks.iter().filter_map(end_of_check).min();
            words.ends = words.ends.into_iter().chain(ends).min();
        }
        Ok(words)
    }

    fn take(&mut self, fact: &Predicate<'_>, block: usize) -> Result<(), Defect> {
        match fact.name {
            "holder" => {
                if self.holder.is_some() {
                    return Err(Defect::HolderRepeated);
                }
                self.holder = Some(holder(fact).ok_or(Defect::HolderMalformed)?);
            }
            "mandate" => self.mandates.push(mandate(fact).ok_or(Defect::MandateMalformed)?),
            "source" => {
                if self.source.is_some() || block != 0 {
                    return Err(Defect::SourceMalformed);
                }
                self.source = Some(source(fact).ok_or(Defect::SourceMalformed)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// One strict key: 43 characters of base64url, or the 32 bytes themselves.
fn holder(fact: &Predicate<'_>) -> Option<PublicKey> {
    match fact.terms.as_slice() {
        [Term::Text(text)] => {
            let bytes: [u8; 32] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
            PublicKey::from_bytes(&bytes).ok()
        }
        [Term::Bytes(bytes)] => PublicKey::from_bytes(&<[u8; 32]>::try_from(*bytes).ok()?).ok(),
        _ => None,
    }
}

fn mandate(fact: &Predicate<'_>) -> Option<MandateId> {
    match fact.terms.as_slice() {
        [Term::Text(text)] => text.parse().ok(),
        _ => None,
    }
}

fn source(fact: &Predicate<'_>) -> Option<IssuerId> {
    match fact.terms.as_slice() {
        [Term::Text(text)] => text.parse().ok(),
        _ => None,
    }
}

/// The last moment at which the check can pass: every alternative must name one. There is one `time` fact, the
/// verifier's own, so each alternative holds for that time or not at all.
fn end_of_check(check: &Check<'_>) -> Option<UnixTime> {
    if check.kind != Kind::One {
        return None;
    }
    let ends: Option<Vec<UnixTime>> = check.queries.iter().map(end_of_query).collect();
    ends?.into_iter().max()
}

fn end_of_query(query: &Rule<'_>) -> Option<UnixTime> {
    let time = query.body.iter().find_map(|predicate| match predicate.terms.as_slice() {
        [Term::Variable(variable)] if predicate.name == "time" => Some(*variable),
        _ => None,
    })?;
    query.expressions.iter().filter_map(|expression| end_of_expression(expression, time)).min()
}

/// `$t <= D`, `$t < D`, `D >= $t`, `D > $t`. Expiry is strict (protocol T2): the token has ended at D in each of them.
fn end_of_expression(expression: &Expression<'_>, time: u32) -> Option<UnixTime> {
    let [Operation::Value(left), Operation::Value(right), Operation::Binary(binary)] =
        expression.operations.as_slice()
    else {
        return None;
    };
    match (left, binary, right) {
        (Term::Variable(variable), Binary::Less | Binary::LessOrEqual, Term::Date(date))
        | (Term::Date(date), Binary::Greater | Binary::GreaterOrEqual, Term::Variable(variable)) => {
            (*variable == time).then_some(*date)
        }
        _ => None,
    }
}
