//! Floats in their shortest form: half, single or double precision (RFC 8949 4.2.1).

use super::CborFault;

/// Reads the bytes after the head; NaN, infinities and longer forms than needed are refused.
pub(super) fn decode(bytes: &[u8]) -> Result<f64, CborFault> {
    let half = || bytes.try_into().ok().map(|bytes| from_half(u16::from_be_bytes(bytes)));
    let single = || bytes.try_into().ok().map(|bytes| f64::from(f32::from_be_bytes(bytes)));
    let double = || bytes.try_into().ok().map(f64::from_be_bytes);
    let value = half().or_else(single).or_else(double).ok_or(CborFault::Truncated)?;
    if !value.is_finite() {
        return Err(CborFault::Forbidden);
    }
    let mut shortest = Vec::with_capacity(9);
    encode(value, &mut shortest);
    if shortest.get(1..) == Some(bytes) { Ok(value) } else { Err(CborFault::NotShortest) }
}

/// Appends head and bytes of the shortest form that keeps the value.
pub(super) fn encode(value: f64, out: &mut Vec<u8>) {
    if let Some(half) = to_half(value) {
        out.push(0xf9);
        out.extend_from_slice(&half.to_be_bytes());
        return;
    }
    if let Some(single) = to_single(value) {
        out.push(0xfa);
        out.extend_from_slice(&single.to_be_bytes());
        return;
    }
    out.push(0xfb);
    out.extend_from_slice(&value.to_be_bytes());
}

fn from_half(half: u16) -> f64 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(half & 0x3ff);
    match (half >> 10) & 0x1f {
        0 => sign * fraction * 2_f64.powi(-24),
        31 => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2_f64.powi(i32::from(exponent) - 25),
    }
}

/// The half with exactly this value, found by its bits; `None` when there is none.
fn to_half(value: f64) -> Option<u16> {
    let bits = value.to_bits();
    let sign = u16::try_from(bits >> 63).ok()? << 15;
    let exponent = i64::try_from((bits >> 52) & 0x7ff).ok()? - 1023;
    let fraction = bits & 0x000f_ffff_ffff_ffff;
    if value == 0.0 {
        return Some(sign);
    }
    // A normal half keeps 10 bits of fraction; below 2^-14 each step of the exponent costs one.
    let kept = if exponent >= -14 { 10 } else { 24 + exponent };
    if exponent > 15 || kept < 0 {
        return None;
    }
    let dropped = u32::try_from(52 - kept).ok()?;
    if fraction & ((1 << dropped) - 1) != 0 {
        return None;
    }
    let shifted = u16::try_from(fraction >> dropped).ok()?;
    let magnitude = if exponent >= -14 {
        (u16::try_from(exponent + 15).ok()? << 10) | shifted
    } else {
        (1 << u32::try_from(kept).ok()?) | shifted
    };
    Some(sign | magnitude)
}

/// The single with exactly this value; `None` when there is none.
fn to_single(value: f64) -> Option<f32> {
    let single: f32 = value.to_string().parse().ok()?;
    (f64::from(single).to_bits() == value.to_bits()).then_some(single)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shortest(value: f64) -> Vec<u8> {
        let mut out = Vec::new();
        encode(value, &mut out);
        out
    }

    #[test]
    fn the_examples_of_rfc_8949_appendix_a() {
        let cases: [(f64, &[u8]); 13] = [
            (0.0, &[0xf9, 0x00, 0x00]),
            (-0.0, &[0xf9, 0x80, 0x00]),
            (1.0, &[0xf9, 0x3c, 0x00]),
            (1.1, &[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
            (1.5, &[0xf9, 0x3e, 0x00]),
            (65504.0, &[0xf9, 0x7b, 0xff]),
            (100_000.0, &[0xfa, 0x47, 0xc3, 0x50, 0x00]),
            (3.402_823_466_385_288_6e38, &[0xfa, 0x7f, 0x7f, 0xff, 0xff]),
            (1.0e300, &[0xfb, 0x7e, 0x37, 0xe4, 0x3c, 0x88, 0x00, 0x75, 0x9c]),
            (5.960_464_477_539_063e-8, &[0xf9, 0x00, 0x01]),
            (0.000_061_035_156_25, &[0xf9, 0x04, 0x00]),
            (-4.0, &[0xf9, 0xc4, 0x00]),
            (-4.1, &[0xfb, 0xc0, 0x10, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66]),
        ];
        for (value, bytes) in cases {
            assert_eq!(shortest(value), bytes, "{value}");
            assert_eq!(decode(&bytes[1..]).unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn longer_forms_and_no_numbers_are_refused() {
        assert_eq!(decode(&1.5_f32.to_be_bytes()), Err(CborFault::NotShortest));
        assert_eq!(decode(&1.5_f64.to_be_bytes()), Err(CborFault::NotShortest));
        assert_eq!(decode(&[0x7c, 0x00]), Err(CborFault::Forbidden));
        assert_eq!(decode(&f64::NAN.to_be_bytes()), Err(CborFault::Forbidden));
        assert_eq!(decode(&f32::INFINITY.to_be_bytes()), Err(CborFault::Forbidden));
    }

    proptest! {
        #[test]
        fn every_finite_float_comes_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(decode(&shortest(value)[1..]).unwrap().to_bits(), bits);
        }

        #[test]
        fn every_finite_single_comes_back(bits: u32) {
            let value = f64::from(f32::from_bits(bits));
            prop_assume!(value.is_finite());
            prop_assert!(shortest(value).len() <= 5);
            prop_assert_eq!(decode(&shortest(value)[1..]).unwrap().to_bits(), value.to_bits());
        }
    }
}
