//! The names in `.snapshots`.

use super::control::CONTROL;
use crate::fs::error::{Result, refuse};
use crate::store::record::Timestamp;

/// Longest name of a snapshot in bytes.
const NAME_MAX: usize = 200;

/// What the daemon's own snapshots begin with.
pub(super) const AUTOMATIC: &[u8] = b"auto-";

/// What a time in place of a name begins with.
const AT: u8 = b'@';

/// Checks the name of a snapshot that a user takes.
///
/// # Errors
/// ENAMETOOLONG over 200 bytes; EINVAL for a name that is a time's or the daemon's.
pub(super) fn check_new(name: &[u8]) -> Result<()> {
    if name.len() > NAME_MAX {
        return refuse(libc::ENAMETOOLONG);
    }
    let reserved = name == CONTROL || name.first() == Some(&AT) || name.starts_with(AUTOMATIC);
    if reserved || name.is_empty() || name == b"." || name == b".." || name.iter().any(|byte| b"/\0".contains(byte)) {
        return refuse(libc::EINVAL);
    }
    Ok(())
}

/// The time in a name such as `@2026-11-30T12:00:00Z` or `@1796040000`.
pub(super) fn time_in(name: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(name.strip_prefix(&[AT])?).ok()?;
    if let Some(time) = seconds(text) {
        return Some(time);
    }
    let (date, clock) = text.split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, offset) = offset(clock)?;
    let mut clock = clock.splitn(3, ':');
    let (hour, minute) = (clock.next()?.parse::<i64>().ok()?, clock.next()?.parse::<i64>().ok()?);
    let second = seconds(clock.next().unwrap_or("0"))?;
    let plausible = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second.secs);
    let secs = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second.secs - offset;
    plausible.then_some(Timestamp { secs, nanos: second.nanos })
}

/// Seconds with an optional fraction.
fn seconds(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse().ok()?;
    Some(Timestamp { secs: whole.parse().ok()?, nanos })
}

/// The clock time without its zone, and the zone's distance from UTC in seconds.
fn offset(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let at = clock.rfind(['+', '-'])?;
    let (clock, zone) = clock.split_at_checked(at)?;
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let distance = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
    Some((clock, if zone.starts_with('-') { -distance } else { distance }))
}

/// Days from 1970 on to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March, so that the leap day is the last: then a month's first day is
    // at (153 m + 2) / 5, counted from 0 for March.
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let era_days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    era_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<(i64, u32)> {
        time_in(text.as_bytes()).map(|time| (time.secs, time.nanos))
    }

    #[test]
    fn times() {
        assert_eq!(at("@1796040000"), Some((1_796_040_000, 0)));
        assert_eq!(at("@2026-11-30T12:00:00Z"), Some((1_796_040_000, 0)));
        assert_eq!(at("@2026-11-30T13:00:00.250+01:00"), Some((1_796_040_000, 250_000_000)));
        assert_eq!(at("@2026-11-30T12:00Z"), Some((1_796_040_000, 0)));
        assert_eq!(at("@2000-02-29T00:00:00Z"), Some((951_782_400, 0)));
        assert_eq!(at("@1970-01-01T00:00:00Z"), Some((0, 0)));
        for wrong in
            ["@", "@noon", "@2026-11-30", "@2026-13-01T00:00:00Z", "@2026-11-30T12:00:00", "2026-11-30T12:00:00Z"]
        {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn new_names() {
        assert!(check_new(b"before-upgrade").is_ok());
        assert!(check_new(&[b'x'; 200]).is_ok());
        for (name, errno) in
            [(&b"@noon"[..], libc::EINVAL), (b"auto-1", libc::EINVAL), (&[b'x'; 201], libc::ENAMETOOLONG)]
        {
            assert_eq!(check_new(name).unwrap_err().errno(), errno);
        }
    }
}
