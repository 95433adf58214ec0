//! Cases grown from a seed.

use pact_mandate::Call;

use super::Case;
use crate::format::tenuo::tests::{
    call,
    forge::{
        NOW, Sketch, constraints, extensions, issuer_root, keys, root, seal, stack, texts, tools, unsigned,
    },
    seeds::{Dice, Rule},
};

/// Rules by argument by tool.
type Grants = Vec<(&'static str, Vec<(&'static str, Rule)>)>;

/// A case that a seed decides: a chain that mostly narrows, bent or mutated now and then, and a call under it.
pub(super) fn grow(dice: &mut Dice) -> Case {
    let mut grants = grow_grants(dice);
    let mut line =
        if dice.percent(15) { grow_issuers(dice, &grants) } else { vec![root().granting(written(&grants))] };
    for holder in 4..4 + u8::try_from(dice.roll(3)).unwrap() {
        let parent = line[line.len() - 1].clone();
        let mut child = parent.child(holder);
        if child.kind == 0 {
            grants = narrower(&grants, dice);
            child = child.granting(written(&grants));
        }
        line.push(child);
    }
    let position = dice.roll(line.len());
    if dice.percent(30) {
        let bent = bend(line[position].clone(), dice);
        relink(&mut line, position, bent);
    }
    let leaf = line[line.len() - 1].clone();
    let mut envelopes: Vec<Vec<u8>> = line.iter().map(Sketch::seal).collect();
    if dice.percent(15) {
        let last = envelopes.len() - 1;
        envelopes[last] = mutated(&leaf, dice);
    }
    let stack =
        if envelopes.len() == 1 && dice.percent(30) { envelopes.remove(0) } else { stack(&envelopes) };
    Case { stack, call: grow_call(&grants, dice), holder: leaf.holder }
}

fn grow_grants(dice: &mut Dice) -> Grants {
    let names: &[&[&'static str]] = &[&["read"], &["delete", "read"], &["*"], &["*", "delete"], &[]];
    let tools = dice.pick(&[0, 0, 0, 0, 1, 1, 2, 3, 4]);
    names[tools].iter().map(|tool| (*tool, grow_arguments(dice))).collect()
}

fn grow_arguments(dice: &mut Dice) -> Vec<(&'static str, Rule)> {
    let names: &[&[&'static str]] = &[&["x"], &["x", "y"], &[]];
    let chosen = dice.pick(&[0, 0, 0, 1, 1, 2]);
    names[chosen].iter().map(|name| (*name, Rule::grow(dice, 2))).collect()
}

fn narrower(grants: &Grants, dice: &mut Dice) -> Grants {
    let mut child: Grants = Vec::new();
    for (tool, arguments) in grants {
        if dice.percent(12) {
            continue;
        }
        let mut kept: Vec<_> = arguments.iter().map(|(name, rule)| (*name, rule.narrower(dice))).collect();
        if arguments.is_empty() && dice.percent(50) {
            kept = grow_arguments(dice);
        }
        child.push((*tool, kept));
        if *tool == "*" && dice.percent(40) {
            let arguments = arguments.iter().map(|(name, rule)| (*name, rule.narrower(dice))).collect();
            child.push((dice.pick(&["delete", "read"]), arguments));
        }
    }
    child.sort_by_key(|(tool, _)| *tool);
    child.dedup_by_key(|(tool, _)| *tool);
    if dice.percent(3) { grow_grants(dice) } else { child }
}

fn written(grants: &Grants) -> Vec<u8> {
    let one = |arguments: &Vec<(&str, Rule)>| {
        constraints(&arguments.iter().map(|(name, rule)| (*name, rule.cbor())).collect::<Vec<_>>())
    };
    tools(&grants.iter().map(|(tool, arguments)| (*tool, one(arguments))).collect::<Vec<_>>())
}

/// One or two issuer warrants, and an execution warrant under them.
fn grow_issuers(dice: &mut Dice, grants: &Grants) -> Vec<Sketch> {
    let mut first = issuer_root().with(11, texts(&[dice.pick(&["read", "*", "write"])]));
    if dice.percent(50) {
        first = first.with(13, unsigned(u64::try_from(dice.roll(6)).unwrap()));
    }
    if dice.percent(40) {
        first = first.with(14, constraints(&[("x", Rule::grow(dice, 1).cbor())]));
    }
    let mut line = vec![first];
    if dice.percent(40) {
        let mut second = line[0].child(3);
        if dice.percent(20) {
            second = second.without(dice.pick(&[13, 14]));
        }
        line.push(second);
    }
    let parent = line[line.len() - 1].clone();
    let holder = dice.pick(&[4, 4, 4, parent.holder]);
    let leaf = Sketch { kind: 0, ..parent.child(holder) }
        .without(11)
        .without(13)
        .without(14)
        .granting(written(grants));
    line.push(Sketch { max_depth: dice.pick(&[5, 3, 2]), ..leaf });
    line
}

/// A warrant with something about it changed.
fn bend(sketch: Sketch, dice: &mut Dice) -> Sketch {
    match dice.roll(18) {
        0 => Sketch { expires_at: NOW - 300 + 90 * 86_400 + 1, ..sketch },
        1 => Sketch { expires_at: NOW, ..sketch },
        2 => Sketch { issued_at: NOW + u64::try_from(dice.roll(50)).unwrap(), ..sketch },
        3 => Sketch { max_depth: u64::try_from(dice.roll(8)).unwrap(), ..sketch },
        4 => Sketch { depth: sketch.depth + 1, ..sketch },
        5 => Sketch { id: [1; 16], ..sketch },
        6 => Sketch { kind: dice.pick(&[1, 2, 256]), ..sketch },
        7 => Sketch { issuer: Some(9), ..sketch },
        8 => Sketch { parent_hash: dice.percent(50).then_some([3; 32]), ..sketch },
        9 => sketch.with(17, unsigned(u64::try_from(dice.roll(3)).unwrap())),
        10 => sketch.with(10, extensions(&[("tenuo.session_id", b"A")])),
        11 => sketch.with(10, extensions(&[("tenuo.future", b"A")])),
        12 => sketch.with(10, extensions(&[("pact.source", b"partner.example")])),
        13 => sketch.with(15, keys(&[7, 8])),
        14 => sketch.with(16, unsigned(1)),
        15 => sketch.with(10, extensions(&[("com.example.note", b"A")])),
        16 => sketch.granting(tools(&[("tenuo:x", constraints(&[]))])),
        _ => Sketch { holder: sketch.signer, ..sketch },
    }
}

/// Puts a bent warrant into the line, and hangs those below from it.
fn relink(line: &mut [Sketch], position: usize, bent: Sketch) {
    line[position] = bent;
    for below in position + 1..line.len() {
        let hung = line[below - 1].child(line[below].holder);
        line[below].parent_hash = hung.parent_hash;
        line[below].signer = hung.signer;
    }
}

/// The leaf with a byte of its payload changed, inserted or removed before it was signed, or one of its envelope after.
fn mutated(leaf: &Sketch, dice: &mut Dice) -> Vec<u8> {
    let mut payload = leaf.payload();
    let at = dice.roll(payload.len());
    let byte = u8::try_from(dice.roll(256)).unwrap();
    match dice.roll(4) {
        0 => payload[at] = byte,
        1 => payload.insert(at, byte),
        2 => drop(payload.remove(at)),
        _ => {
            let mut envelope = leaf.seal();
            let at = dice.roll(envelope.len());
            envelope[at] = byte;
            return envelope;
        }
    }
    seal(&payload, leaf.signer)
}

fn grow_call(grants: &Grants, dice: &mut Dice) -> Call {
    let tool = dice.pick(&["read", "read", "delete"]);
    let arguments = grants.iter().find(|(name, _)| *name == tool).or(grants.first());
    let mut members: Vec<String> = Vec::new();
    for (name, rule) in arguments.map(|(_, arguments)| arguments.as_slice()).unwrap_or_default() {
        if !dice.percent(3) {
            members.push(format!("{name:?}:{}", rule.witness(dice).json()));
        }
    }
    if dice.percent(3) {
        members.push(r#""z":1"#.to_owned());
    }
    call(tool, &format!("{{{}}}", members.join(",")))
}
