//! The lines of `/proc/locks`.

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ProcLock {
    pub(super) kind: &'static str,
    pub(super) mode: &'static str,
    pub(super) waiting: bool,
    pub(super) pid: u32,
    pub(super) ino: u64,
    pub(super) start: u64,
    /// The last byte; None for up to the end of the file.
    pub(super) end: Option<u64>,
}

/// The locks on one device (major, minor). Lines that cannot be read are passed over.
pub(super) fn parse(text: &str, device: (u32, u32)) -> impl Iterator<Item = ProcLock> + '_ {
    text.lines().filter_map(move |line| parse_line(line, device))
}

fn parse_line(line: &str, device: (u32, u32)) -> Option<ProcLock> {
    let (_number, rest) = line.split_once(':')?;
    let mut words = rest.split_ascii_whitespace().peekable();
    let waiting = words.next_if_eq(&"->").is_some();
    let kind = match words.next()? {
        "FLOCK" => "flock",
        "POSIX" => "posix",
        "OFDLCK" => "ofd",
        "LEASE" => "lease",
        _ => return None,
    };
    let _advisory = words.next()?;
    let mode = match words.next()? {
        "READ" => "read",
        "WRITE" => "write",
        "RW" => "read-write",
        _ => "none",
    };
    // A process that the reader's pid namespace does not show is 0, and an open file's is -1.
    let pid = words.next()?.parse::<i64>().ok().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
    let mut place = words.next()?.split(':');
    let major = u32::from_str_radix(place.next()?, 16).ok()?;
    let minor = u32::from_str_radix(place.next()?, 16).ok()?;
    let ino = place.next()?.parse().ok()?;
    if (major, minor) != device {
        return None;
    }
    let start = words.next()?.parse().ok()?;
    let end = words.next()?.parse().ok();
    Some(ProcLock { kind, mode, waiting, pid, ino, start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = "1: FLOCK  ADVISORY  WRITE 1234 00:2a:4294967298 0 EOF\n\
                    1: -> FLOCK  ADVISORY  WRITE 1235 00:2a:4294967298 0 EOF\n\
                    2: POSIX  ADVISORY  READ 99 fe:00:12 128 256\n\
                    3: OFDLCK ADVISORY  READ -1 00:2a:7 0 9\n\
                    nonsense\n4: FLOCK\n";
        let locks: Vec<_> = parse(text, (0, 0x2a)).collect();
        assert_eq!(locks.len(), 3);
        assert_eq!((locks[0].kind, locks[0].mode, locks[0].pid, locks[0].ino), ("flock", "write", 1234, 4294967298));
        assert!(!locks[0].waiting && locks[1].waiting);
        assert_eq!((locks[2].kind, locks[2].pid, locks[2].end), ("ofd", 0, Some(9)));
    }
}
