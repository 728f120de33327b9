//! Points in time as text: RFC 3339, in UTC for logs and in local time for people.

use std::time::{SystemTime, UNIX_EPOCH};

/// The parts of a date and time of day.
struct Civil {
    year: i64,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
}

/// Days since 1970-01-01 of a date in the Gregorian calendar.
///
/// Years begin in March here, so that the leap day is the last of its year.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date and time of a number of seconds since 1970.
fn civil(seconds: i64) -> Civil {
    let days = seconds.div_euclid(86_400);
    let rest = seconds.rem_euclid(86_400);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let small = |number: i64| u8::try_from(number).unwrap_or(0);
    Civil {
        year,
        month: small(month),
        day: small(day_of_year - (153 * month_from_march + 2) / 5 + 1),
        hour: small(rest / 3600),
        minute: small(rest / 60 % 60),
        second: small(rest % 60),
    }
}

fn format(seconds: i64) -> String {
    let Civil { year, month, day, hour, minute, second } = civil(seconds);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// UTC to the millisecond: `2026-11-30T12:00:00.123Z`.
pub fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX / 2);
    format!("{}.{:03}Z", format(seconds), since.subsec_millis())
}

/// Local time to the second, with its distance from UTC: `2026-11-30T13:00:00+01:00`.
pub fn local(seconds: i64) -> String {
    let offset = super::sys::utc_offset(seconds);
    let text = format(seconds.saturating_add(offset));
    if offset == 0 {
        return format!("{text}Z");
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60;
    format!("{text}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Reads an RFC 3339 time; the seconds since 1970, without the fraction.
pub fn parse(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let separators = [(4, "-"), (7, "-"), (13, ":"), (16, ":")];
    if separators.iter().any(|(at, sep)| text.get(*at..at + 1) != Some(sep)) {
        return None;
    }
    if !matches!(text.get(10..11), Some("T" | "t" | " ")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|char: char| char.is_ascii_digit()),
        None => rest,
    };
    let offset = match rest {
        "Z" | "z" => 0,
        _ => zone(rest)?,
    };
    Some(days_of(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset)
}

/// The seconds of `+01:00`.
fn zone(text: &str) -> Option<i64> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::Duration;

    #[test]
    fn known_instants() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_796_040_000, "2026-11-30T12:00:00"),
            (4_107_542_400, "2100-03-01T00:00:00"),
            (-1, "1969-12-31T23:59:59"),
        ] {
            assert_eq!(format(seconds), text);
            assert_eq!(parse(&format!("{text}Z")), Some(seconds), "{text}");
        }
    }

    #[test]
    fn every_day_of_five_centuries() {
        for day in 0..182_621 {
            let Civil { year, month, day: of_month, .. } = civil(day * 86_400);
            assert_eq!(days_of(year, month.into(), of_month.into()), day);
        }
    }

    #[test]
    fn texts() {
        let time = UNIX_EPOCH + Duration::from_millis(1_796_040_000_123);
        assert_eq!(utc(time), "2026-11-30T12:00:00.123Z");
        assert_eq!(parse("2026-11-30T13:00:00.5+01:00"), Some(1_796_040_000));
        assert_eq!(parse("2026-11-30 06:30:00-05:30"), Some(1_796_040_000));
        assert_eq!(parse(&local(1_796_040_000)), Some(1_796_040_000));
        for text in ["", "2026-11-30", "2026-13-30T12:00:00Z", "2026-11-30T12:00:00", "2026-11-30T12:00:00é"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
