//! The primitives of the byte layouts: LEB128 numbers and length-prefixed byte strings.

use super::{Error, Result};

/// Appends values to a record.
#[derive(Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// An empty record.
    pub fn new() -> Self {
        Encoder::default()
    }

    /// One byte as it is.
    pub fn byte(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    /// An unsigned number in LEB128.
    pub fn number(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
        self
    }

    /// A signed number, zigzag-coded so that small negative ones are short.
    pub fn signed(&mut self, value: i64) -> &mut Self {
        self.number(((value << 1) ^ (value >> 63)) as u64)
    }

    /// A byte string behind its length.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.number(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// The record.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes values from a record.
#[derive(Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Decoder<'a> {
    /// Reads `bytes`, which an error names as `what`.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Decoder { rest: bytes, what }
    }

    fn short(&self) -> Error {
        Error::corrupt(format!("a {} record ends too early", self.what))
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8> {
        let (&first, rest) = self.rest.split_first().ok_or_else(|| self.short())?;
        self.rest = rest;
        Ok(first)
    }

    /// An unsigned number.
    pub fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::corrupt(format!("a {} record has a number over 64 bits", self.what)))
    }

    /// An unsigned number that has to fit 32 bits.
    pub fn number32(&mut self) -> Result<u32> {
        let value = self.number()?;
        u32::try_from(value).map_err(|_| Error::corrupt(format!("a {} record has {value} for 32 bits", self.what)))
    }

    /// A signed number.
    pub fn signed(&mut self) -> Result<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A byte string.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| self.short())?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.short())?;
        self.rest = rest;
        Ok(taken)
    }

    /// Whether nothing is left: a record from before there was more.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// What is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(a: u64, b: i64, c: Vec<u8>, d: u8) {
            let mut out = Encoder::new();
            out.number(a).signed(b).bytes(&c).byte(d);
            let bytes = out.finish();
            let mut read = Decoder::new(&bytes, "test");
            prop_assert_eq!(read.number().unwrap(), a);
            prop_assert_eq!(read.signed().unwrap(), b);
            prop_assert_eq!(read.bytes().unwrap(), &c[..]);
            prop_assert_eq!(read.byte().unwrap(), d);
            prop_assert!(read.rest().is_empty());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let mut read = Decoder::new(&bytes, "test");
            while read.number().is_ok() {}
            let mut read = Decoder::new(&bytes, "test");
            while read.bytes().is_ok_and(|b| !b.is_empty()) {}
        }
    }
}
