//! Multiples of a point, kept so that a scalar times that point is a few additions and no doublings.
//!
//! Arithmetic alone: the group law is the library's, and no verdict is kept. Everything here is public (keys, messages,
//! signatures), so its time may depend on the values.

use std::{iter::zip, sync::LazyLock};

use curve25519_dalek::{EdwardsPoint, Scalar, constants::ED25519_BASEPOINT_POINT};

/// Multiples 1 to 8 of 256^i times a point, for i from 0 to 31: 40 KiB, made in about the time of four verifications.
pub(super) struct Multiples(Vec<[EdwardsPoint; 8]>);

/// Multiples 1 to 128 of 256^i times the base point: 640 KiB, once.
static BASE: LazyLock<Vec<Vec<EdwardsPoint>>> = LazyLock::new(|| {
    powers(ED25519_BASEPOINT_POINT).map(|power| multiples(power).take(128).collect()).collect()
});

impl Multiples {
    pub(super) fn of(point: EdwardsPoint) -> Multiples {
        let rows = powers(point).map(|power| {
            let mut next = multiples(power);
            std::array::from_fn(|_| next.next().unwrap_or_default())
        });
        Multiples(rows.collect())
    }

    /// `here` times this point plus `base` times the base point.
    pub(super) fn times_plus_base(&self, here: &Scalar, base: &Scalar) -> EdwardsPoint {
        let digits = radix_16(here);
        let at = |odd: usize| digits.iter().skip(odd).step_by(2).copied();
        // Every second digit stands for 16 times what the rows hold.
        let sum = zip(&self.0, at(1)).fold(EdwardsPoint::default(), |sum, (row, digit)| add(sum, row, digit));
        let sum = (0..4).fold(sum, |sum, _| sum + sum);
        let sum = zip(&self.0, at(0)).fold(sum, |sum, (row, digit)| add(sum, row, digit));
        zip(BASE.iter(), radix_256(base)).fold(sum, |sum, (row, digit)| add(sum, row, digit))
    }
}

/// The point times 256^i.
fn powers(point: EdwardsPoint) -> impl Iterator<Item = EdwardsPoint> {
    let times_256 = |power: &EdwardsPoint| Some((0..8).fold(*power, |power, _| power + power));
    std::iter::successors(Some(point), times_256).take(32)
}

/// The point times 1, 2, 3 and so on.
fn multiples(point: EdwardsPoint) -> impl Iterator<Item = EdwardsPoint> {
    std::iter::successors(Some(point), move |multiple| Some(multiple + point))
}

/// `sum` plus the digit's multiple of a row; a digit is never beyond its row.
fn add(sum: EdwardsPoint, row: &[EdwardsPoint], digit: i16) -> EdwardsPoint {
    let multiple = usize::from(digit.unsigned_abs()).checked_sub(1).and_then(|place| row.get(place));
    match multiple {
        None => sum,
        Some(multiple) if digit < 0 => sum - multiple,
        Some(multiple) => sum + multiple,
    }
}

/// Digits from −8 to 8, the lowest first.
fn radix_16(scalar: &Scalar) -> [i16; 64] {
    let mut nibbles = scalar.as_bytes().iter().flat_map(|byte| [byte & 15, byte >> 4]);
    signed(|| nibbles.next(), 16)
}

/// Digits from −128 to 128, the lowest first.
fn radix_256(scalar: &Scalar) -> [i16; 32] {
    let mut bytes = scalar.as_bytes().iter().copied();
    signed(|| bytes.next(), 256)
}

/// What is above half the radix is taken from the next digit. Scalars are below 2^253, so the last one carries nothing.
fn signed<const N: usize>(mut next: impl FnMut() -> Option<u8>, radix: i16) -> [i16; N] {
    let mut carry = 0;
    std::array::from_fn(|_| {
        let digit = i16::from(next().unwrap_or_default()) + carry;
        carry = i16::from(digit > radix / 2);
        digit - carry * radix
    })
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::constants::EIGHT_TORSION;
    use proptest::prelude::*;

    use super::*;

    fn scalars() -> impl Strategy<Value = Scalar> {
        let wide = any::<[u8; 32]>().prop_map(Scalar::from_bytes_mod_order);
        let small = any::<u64>().prop_map(Scalar::from);
        let edges = prop_oneof![Just([0x88; 32]), Just([0x80; 32]), Just([0xff; 32]), Just([0x78; 32])];
        let edges = edges.prop_map(Scalar::from_bytes_mod_order);
        prop_oneof![4 => wide, 1 => small.clone(), 1 => small.prop_map(|small| -small), 1 => edges]
    }

    fn points() -> impl Strategy<Value = EdwardsPoint> {
        let torsion = prop::sample::select(EIGHT_TORSION.to_vec());
        (scalars(), torsion).prop_map(|(scalar, torsion)| ED25519_BASEPOINT_POINT * scalar + torsion)
    }

    proptest! {
        #[test]
        fn k5_it_is_the_sum_that_the_library_computes(point in points(), here in scalars(), base in scalars()) {
            let ours = Multiples::of(point).times_plus_base(&here, &base);
            let library = EdwardsPoint::vartime_double_scalar_mul_basepoint(&here, &point, &base);
            prop_assert_eq!(ours.compress(), library.compress());
        }
    }

    #[test]
    fn zero_one_and_the_greatest_scalar_are_computed() {
        for scalar in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE] {
            let point = ED25519_BASEPOINT_POINT * Scalar::from(7_u8) + EIGHT_TORSION[1];
            let ours = Multiples::of(point).times_plus_base(&scalar, &scalar);
            assert_eq!(ours, point * scalar + ED25519_BASEPOINT_POINT * scalar);
        }
    }
}
