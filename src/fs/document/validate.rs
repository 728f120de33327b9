//! What counts as a whole document.
//!
//! UTF-8 without a byte order mark, RFC 8259, an object or an array at the top, white space
//! around it, at most [`MAX_DEPTH`] levels. A proper prefix of such a text is never one itself:
//! that is how a half-written document is known. serde_json does the parsing; NaN and the
//! infinities of Python's json module, which it does not take, are replaced first if allowed.

use std::borrow::Cow;
use std::fmt;

/// Deepest nesting.
pub const MAX_DEPTH: usize = 512;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// There is nothing, or only white space.
    Empty,
    /// It starts with a byte order mark.
    ByteOrderMark,
    /// It is not UTF-8; the offset of the first wrong byte.
    NotUtf8(usize),
    /// The top is a bare string, number or word.
    NotContainer,
    /// It is nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// It is not JSON, or ends too early: what the parser says.
    Syntax(String),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Empty => f.write_str("it is empty"),
            Invalid::ByteOrderMark => f.write_str("it starts with a byte order mark"),
            Invalid::NotUtf8(at) => write!(f, "it is not UTF-8 at byte {at}"),
            Invalid::NotContainer => f.write_str("its top level is neither an object nor an array"),
            Invalid::TooDeep => write!(f, "it is nested deeper than {MAX_DEPTH} levels"),
            Invalid::Syntax(detail) => write!(f, "it is not JSON: {detail}"),
        }
    }
}

/// Checks a text.
///
/// # Errors
/// What is wrong with it first.
pub fn validate(text: &[u8], allow_nan: bool) -> Result<(), Invalid> {
    if text.starts_with(BYTE_ORDER_MARK) {
        return Err(Invalid::ByteOrderMark);
    }
    let text = std::str::from_utf8(text).map_err(|e| Invalid::NotUtf8(e.valid_up_to()))?;
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    match trimmed.bytes().next() {
        None => return Err(Invalid::Empty),
        Some(b'{' | b'[') => {}
        Some(_) => return Err(Invalid::NotContainer),
    }
    let outline = outline(trimmed, allow_nan)?;
    // IgnoredAny is parsed without recursion, so the depth is bounded by the outline alone.
    serde_json::from_str::<serde::de::IgnoredAny>(&outline)
        .map(|serde::de::IgnoredAny| ())
        .map_err(|e| Invalid::Syntax(e.to_string()))
}

/// Bounds the depth, and replaces NaN and the infinities outside of strings by a number as long.
fn outline(text: &str, allow_nan: bool) -> Result<Cow<'_, str>, Invalid> {
    let bytes = text.as_bytes();
    let mut replaced: Option<Vec<u8>> = None;
    let (mut depth, mut at) = (0usize, 0usize);
    let mut in_string = false;
    while let Some(&byte) = bytes.get(at) {
        let mut step = 1;
        match byte {
            b'\\' if in_string => step = 2,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Invalid::TooDeep);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'N' | b'I' if allow_nan => {
                let rest = bytes.get(at..).unwrap_or_default();
                if let Some(word) = [&b"NaN"[..], b"Infinity"].into_iter().find(|word| rest.starts_with(word)) {
                    let copy = replaced.get_or_insert_with(|| bytes.to_vec());
                    if let Some(target) = copy.get_mut(at..at + word.len()) {
                        target.fill(b'1');
                    }
                    step = word.len();
                }
            }
            _ => {}
        }
        at += step;
    }
    Ok(match replaced {
        None => Cow::Borrowed(text),
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8]) -> Result<(), Invalid> {
        validate(text, false)
    }

    #[test]
    fn documents() {
        for text in [
            &b"{}"[..],
            b"[]",
            b" \n{\"a\": 1}\t\r\n",
            b"[1, 2.5e-3, true, null, \"\\u00e9\\\"]\"]",
            "{\"ü\": \"\u{1f600}\"}".as_bytes(),
            b"{\"a\":1,\"a\":2}",
            b"[\"NaN\"]",
        ] {
            assert_eq!(check(text), Ok(()), "{}", String::from_utf8_lossy(text));
        }
        let deep = [vec![b'['; MAX_DEPTH], vec![b']'; MAX_DEPTH]].concat();
        assert_eq!(check(&deep), Ok(()));
    }

    #[test]
    fn everything_else() {
        assert_eq!(check(b""), Err(Invalid::Empty));
        assert_eq!(check(b" \n"), Err(Invalid::Empty));
        assert_eq!(check(b"\xef\xbb\xbf{}"), Err(Invalid::ByteOrderMark));
        assert_eq!(check(b"{\"a\": \"\xff\"}"), Err(Invalid::NotUtf8(7)));
        for bare in [&b"1"[..], b"\"text\"", b"null", b"true", b"NaN"] {
            assert_eq!(check(bare), Err(Invalid::NotContainer));
        }
        for broken in
            [&b"{"[..], b"{}{}", b"[1,]", b"{\"a\"}", b"{\"a\":1}\0", b"[NaN]", b"[01]", b"[\"\n\"]", b"{'a':1}"]
        {
            assert!(matches!(check(broken), Err(Invalid::Syntax(_))), "{}", String::from_utf8_lossy(broken));
        }
        assert_eq!(check(&vec![b'['; 100_000]), Err(Invalid::TooDeep));
    }

    #[test]
    fn nan_where_it_is_allowed() {
        for text in [&b"[NaN]"[..], b"[-Infinity, Infinity]", b"{\"NaN\": NaN}"] {
            assert_eq!(validate(text, true), Ok(()), "{}", String::from_utf8_lossy(text));
        }
        for text in [&b"[NaNa]"[..], b"[-NaN1x]", b"[Infinit]"] {
            assert!(validate(text, true).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn no_proper_prefix_is_a_document() {
        let text = br#" {"a": [1, {"b": "c\\"}], "d": -1.5e3, "e": "]}"} "#;
        for end in 0..text.len() - 2 {
            assert!(check(&text[..end]).is_err(), "{}", String::from_utf8_lossy(&text[..end]));
        }
    }
}
