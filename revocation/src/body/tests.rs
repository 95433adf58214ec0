use proptest::prelude::*;

use super::*;
use crate::{
    Delta, Entry,
    testing::{T0, at, entry, listed},
};

fn any_listed() -> impl Strategy<Value = Listed> {
    // Few expiries and few entries, so that they meet.
    (any::<[u8; 2]>(), 0..5u64).prop_map(|(bytes, minute)| {
        let mut id = [0; 16];
        id[..2].copy_from_slice(&bytes);
        Listed { entry: Entry::from_bytes(id), expires_at: at(T0 + 60 * minute) }
    })
}

proptest! {
    #[test]
    fn r1_a_body_comes_back_from_its_bytes(listed in prop::collection::vec(any_listed(), 0..200)) {
        let body = Body::of(listed.clone());
        let bytes = body.to_bytes();
        let back = Body::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&back, &body);
        prop_assert_eq!(back.to_bytes(), bytes);
        for one in listed {
            prop_assert!(body.entries().contains(&one.entry));
        }
    }

    #[test]
    fn r1_a_set_has_one_body_whatever_the_order(listed in prop::collection::vec(any_listed(), 0..50)) {
        let reversed: Vec<Listed> = listed.iter().rev().copied().collect();
        prop_assert_eq!(Body::of(listed), Body::of(reversed));
    }

    #[test]
    fn a_look_up_finds_what_is_there_and_nothing_else(
        listed in prop::collection::vec(any_listed(), 0..300),
        asked in any_listed(),
    ) {
        let there = listed.iter().any(|one| one.entry == asked.entry);
        prop_assert_eq!(Body::of(listed).entries().contains(&asked.entry), there);
    }

    #[test]
    fn hostile_bytes_are_refused_or_are_the_one_form(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for start in [&b""[..], &b"PACTRVB1"[..], &b"PACTRVB1\0\0\0\x01"[..], &b"PACTRVD1"[..]] {
            let bytes = [start, &bytes].concat();
            if let Ok(body) = Body::from_bytes(&bytes) {
                prop_assert_eq!(body.to_bytes(), bytes.clone());
            }
            if let Ok(delta) = Delta::from_bytes(&bytes) {
                prop_assert_eq!(delta.to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn a_bent_body_is_refused_or_is_the_one_form(at in 0..100usize, bit in 0..8u8) {
        let mut bytes = Body::of((0..5).map(listed)).to_bytes();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        if let Ok(body) = Body::from_bytes(&bytes) {
            prop_assert_eq!(body.to_bytes(), bytes);
        }
    }
}

fn group(minute: u32, entries: &[u8]) -> Vec<u8> {
    let mut bytes = minute.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    for entry in entries {
        bytes.extend([*entry; 16]);
    }
    bytes
}

fn body(groups: &[Vec<u8>]) -> Result<Body, BodyError> {
    let count = u32::try_from(groups.len()).unwrap().to_be_bytes();
    Body::from_bytes(&[&b"PACTRVB1"[..], &count, &groups.concat()].concat())
}

#[test]
fn r1_the_bytes_of_a_body_are_these() {
    let one = Listed { entry: Entry::from_bytes([0x11; 16]), expires_at: at(120) };
    let two = Listed { entry: Entry::from_bytes([0x22; 16]), expires_at: at(61) };
    let wanted = [&b"PACTRVB1"[..], &[0, 0, 0, 1], &group(2, &[0x11, 0x22])].concat();
    assert_eq!(Body::of([two, one]).to_bytes(), wanted);
    assert_eq!(Body::of([]).to_bytes(), b"PACTRVB1\0\0\0\0");
}

#[test]
fn r1_a_body_in_any_other_form_is_refused() {
    assert!(body(&[group(1, &[1, 2]), group(2, &[3])]).is_ok());
    for (what, groups) in [
        ("groups out of order", vec![group(2, &[1]), group(1, &[2])]),
        ("one expiry twice", vec![group(1, &[1]), group(1, &[2])]),
        ("entries out of order", vec![group(1, &[2, 1])]),
        ("an entry twice", vec![group(1, &[1, 1])]),
        ("an entry in two groups", vec![group(1, &[1]), group(2, &[1])]),
    ] {
        assert_eq!(body(&groups).unwrap_err(), BodyError::Order, "{what}");
    }
    assert_eq!(body(&[group(1, &[])]).unwrap_err(), BodyError::EmptyGroup);
    assert_eq!(body(&[group(1, &[1]), vec![0]]).unwrap_err(), BodyError::Truncated);
    assert_eq!(Body::from_bytes(b"PACTRVB1\0\0\0\0x").unwrap_err(), BodyError::Trailing);
    assert_eq!(Body::from_bytes(b"PACTRVB1\xff\xff\xff\xff").unwrap_err(), BodyError::Truncated);
    assert_eq!(Body::from_bytes(b"PACTRVD1\0\0\0\0").unwrap_err(), BodyError::Magic { wanted: "PACTRVB1" });
}

#[test]
fn a_million_ids_take_at_most_32_bytes_on_the_wire_and_24_in_memory_each() {
    // The worst case: an expiry for every few ids, spread over the longest lifetime.
    let listed = (0..1_000_000u32).map(|number| {
        let [a, b, c, d] = number.wrapping_mul(0x9e37_79b1).to_be_bytes();
        let mut id = [7; 16];
        id[..4].copy_from_slice(&[a, b, c, d]);
        Listed { entry: Entry::from_bytes(id), expires_at: at(T0 + u64::from(number) * 7) }
    });
    let body = Body::of(listed);
    assert_eq!(body.count(), 1_000_000);
    assert!(body.size() <= 32_000_000, "{}", body.size());
    assert!(body.entries().heap_bytes() <= 24_000_000, "{}", body.entries().heap_bytes());
    let back = Body::from_bytes(&body.to_bytes()).unwrap();
    assert_eq!(back.name(), body.name());
    assert!(back.entries().contains(&back.entries().iter().nth(500_000).unwrap().entry));
    assert!(!back.entries().contains(&entry(1)));
}
