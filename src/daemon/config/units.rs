//! How sizes and durations are written: `16MiB`, `250ms`.

use std::time::Duration;

/// The units of a size, largest first, so that formatting takes the first that divides it.
const SIZES: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// The units of a duration in milliseconds, largest first.
const DURATIONS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// What a size may look like, for messages and documentation.
pub const SIZE_FORM: &str = "a whole number of bytes, or a text with a unit: B, KiB, MiB, GiB, TiB";

/// What a duration may look like, for messages and documentation.
pub const DURATION_FORM: &str = "a text with a unit: ms, s, m, h, d";

/// Splits `16MiB` into 16 and the factor of its unit.
fn parse(text: &str, units: &[(&str, u64)], bare: Option<u64>) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let factor = match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => *factor,
        None if unit.is_empty() => bare?,
        None => return None,
    };
    number.checked_mul(factor)
}

/// Writes a number with the largest unit that divides it.
fn format(number: u64, units: &[(&str, u64)]) -> String {
    for (name, factor) in units {
        if number != 0 && number.is_multiple_of(*factor) {
            return format!("{}{name}", number / factor);
        }
    }
    let smallest = units.last().map_or("", |(name, _)| name);
    format!("{number}{smallest}")
}

/// Reads a size; a number without a unit is in bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    parse(text, &SIZES, Some(1))
}

/// Writes a size so that [`parse_size`] reads the same.
pub fn format_size(bytes: u64) -> String {
    format(bytes, &SIZES)
}

/// Reads a duration. It needs its unit, except for a plain `0`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text.trim() == "0" {
        return Some(Duration::ZERO);
    }
    parse(text, &DURATIONS, None).map(Duration::from_millis)
}

/// Writes a duration so that [`parse_duration`] reads the same, to the millisecond.
pub fn format_duration(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if millis == 0 {
        return String::from("0s");
    }
    format(millis, &DURATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("1KiB", 1024),
            ("16MiB", 16 << 20),
            ("16 MiB", 16 << 20),
            (" 3GiB ", 3 << 30),
            ("16TiB", 1 << 44),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5MiB", "16MB", "16mib", "1 6", "99999999999TiB", "1KiBB", "٣"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, millis) in [("0", 0), ("250ms", 250), ("1s", 1000), ("5m", 300_000), ("7d", 604_800_000)] {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "1.5s", "1w", "-1s", "1S", "s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for bytes in [0, 1, 1023, 1024, 1025, 1 << 20, 3 << 30, u64::MAX] {
            assert_eq!(parse_size(&format_size(bytes)), Some(bytes));
        }
        for millis in [0, 1, 999, 1000, 60_000, 90_000, 86_400_000] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse_duration(&format_duration(duration)), Some(duration));
        }
        assert_eq!(format_size(16 << 20), "16MiB");
        assert_eq!(format_duration(Duration::from_secs(3600)), "1h");
    }
}
