//! Times for people and programs: RFC 3339 in UTC.

use crate::store::record::Timestamp;

/// A time as RFC 3339 with milliseconds, in UTC.
pub(in crate::fs) fn rfc3339(time: Timestamp) -> String {
    let mut parts = std::mem::MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are valid, and gmtime_r writes nothing but the struct.
    if unsafe { libc::gmtime_r(&time.secs, parts.as_mut_ptr()) }.is_null() {
        return format!("{}.{:03}", time.secs, time.nanos / 1_000_000);
    }
    // SAFETY: gmtime_r has filled it.
    let parts = unsafe { parts.assume_init() };
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        parts.tm_year + 1900,
        parts.tm_mon + 1,
        parts.tm_mday,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec,
        time.nanos / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        assert_eq!(rfc3339(Timestamp { secs: 0, nanos: 0 }), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(Timestamp { secs: 1_796_040_000, nanos: 123_456_789 }), "2026-11-30T12:00:00.123Z");
        assert_eq!(rfc3339(Timestamp { secs: -1, nanos: 0 }), "1969-12-31T23:59:59.000Z");
    }
}
