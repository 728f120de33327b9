//! Names in JSON: file names are any bytes, JSON strings are Unicode.

/// A name or path as text, so that [`unescaped`] gives it back: bytes that are not UTF-8 become
/// `\xNN`, and a backslash two.
pub fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// The bytes that [`escaped`] made a text of; None for a text that it cannot have made.
pub fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            // Two backslashes: what is between them is empty, and what follows stands for itself.
            bytes.push(b'\\');
            bytes.extend_from_slice(parts.next()?.as_bytes());
            continue;
        }
        let (digits, rest) = part.strip_prefix('x')?.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts() {
        assert_eq!(escaped(b"a\xff\\x\xc3\xa4"), "a\\xff\\\\xä");
        assert_eq!(unescaped("\\\\\\\\"), Some(b"\\\\".to_vec()));
        for wrong in ["\\", "\\x", "\\xg0", "\\n", "a\\xf", "\\\\\\"] {
            assert_eq!(unescaped(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_escaped_comes_back(bytes: Vec<u8>) {
            prop_assert_eq!(unescaped(&escaped(&bytes)), Some(bytes));
        }
    }
}
