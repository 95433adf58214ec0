//! The writing side: every item in the one form that [`super::Reader`] accepts.

use super::{CborFault, float};

/// Builds a CBOR text item by item.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// An empty writer.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// A writer that appends to `prefix`.
    pub fn after(prefix: Vec<u8>) -> Writer {
        Writer { bytes: prefix }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// An integer of at least zero.
    pub fn unsigned(&mut self, value: u64) {
        self.head(0, value);
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        if value < 0 {
            self.head(1, (-1 - value).unsigned_abs());
        } else {
            self.head(0, value.unsigned_abs());
        }
    }

    /// A byte string.
    pub fn bytes(&mut self, value: &[u8]) {
        self.length(2, value.len());
        self.bytes.extend_from_slice(value);
    }

    /// A text string.
    pub fn text(&mut self, value: &str) {
        self.length(3, value.len());
        self.bytes.extend_from_slice(value.as_bytes());
    }

    /// The head of an array; its items follow.
    pub fn array(&mut self, count: usize) {
        self.length(4, count);
    }

    /// The head of a map; its keys and values follow.
    pub fn map(&mut self, count: usize) {
        self.length(5, count);
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.bytes.push(if value { 0xf5 } else { 0xf4 });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.bytes.push(0xf6);
    }

    /// A float, in its shortest form. What is no number or infinite has no form that a reader accepts, so it is refused.
    pub fn float(&mut self, value: f64) -> Result<(), CborFault> {
        if !value.is_finite() {
            return Err(CborFault::Forbidden);
        }
        float::encode(value, &mut self.bytes);
        Ok(())
    }

    fn length(&mut self, major: u8, length: usize) {
        self.head(major, u64::try_from(length).unwrap_or(u64::MAX));
    }

    fn head(&mut self, major: u8, argument: u64) {
        let major = major << 5;
        let [.., b4, b5, b6, b7] = argument.to_be_bytes();
        match argument {
            0..24 => self.bytes.push(major | b7),
            24..0x100 => self.bytes.extend_from_slice(&[major | 0x18, b7]),
            0x100..0x1_0000 => self.bytes.extend_from_slice(&[major | 0x19, b6, b7]),
            0x1_0000..0x1_0000_0000 => self.bytes.extend_from_slice(&[major | 0x1a, b4, b5, b6, b7]),
            _ => {
                self.bytes.push(major | 0x1b);
                self.bytes.extend_from_slice(&argument.to_be_bytes());
            }
        }
    }
}
