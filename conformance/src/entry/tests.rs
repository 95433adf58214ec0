use proptest::prelude::*;

use super::*;
use crate::corpus;

/// One change to an input, as a fuzzer makes it.
#[derive(Clone, Debug)]
enum Change {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Copy(prop::sample::Index, prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        let end = |at: usize, count: usize, bytes: &[u8]| (at + count).min(bytes.len());
        match self {
            Change::Set(at, byte) => {
                if let Some(place) = bytes.get_mut(at.index(length)) {
                    *place = *byte;
                }
            }
            Change::Insert(at, more) => {
                let at = at.index(length).min(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = at.index(length).min(bytes.len());
                let end = end(at, *count, bytes);
                bytes.drain(at..end);
            }
            Change::Copy(from, to, count) => {
                let from = from.index(length).min(bytes.len());
                let part = bytes[from..end(from, *count, bytes)].to_vec();
                let to = to.index(length).min(bytes.len());
                bytes.splice(to..to, part);
            }
            Change::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    use any as some;
    let change = prop_oneof![
        4 => (some::<prop::sample::Index>(), some::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        2 => (some::<prop::sample::Index>(), prop::collection::vec(some::<u8>(), 1..9)).prop_map(|(at, more)| Change::Insert(at, more)),
        2 => (some::<prop::sample::Index>(), 1_usize..20).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (some::<prop::sample::Index>(), some::<prop::sample::Index>(), 1_usize..200).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
        1 => some::<prop::sample::Index>().prop_map(Change::Cut),
    ];
    prop::collection::vec(change, 1..5)
}

/// The valid inputs are accepted; mutated ones and any bytes are answered.
macro_rules! entries {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use super::*;

            #[test]
            fn valid_inputs_are_accepted() {
                for input in corpus::$name().unwrap() {
                    assert_eq!(entry($name(&input)), Ok(()), "{}", String::from_utf8_lossy(&input));
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(512))]

                #[test]
                fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
                    let _ = entry($name(&bytes));
                }

                #[test]
                fn mutated_inputs_are_answered(which: prop::sample::Index, changes in changes()) {
                    let mut bytes = which.get(&corpus::$name().unwrap()).clone();
                    for change in &changes {
                        change.apply(&mut bytes);
                    }
                    let _ = entry($name(&bytes));
                }
            }
        }
    )+};
}

/// The reason of a refusal is there to be read.
fn entry(answer: Answer) -> Answer {
    if let Err(reason) = &answer {
        assert!(!reason.is_empty());
    }
    answer
}

entries!(biscuit_token, cbor_stack, config, json, key_set, lists, mandate, proof, receipts);
