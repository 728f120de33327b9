//! The device number of a mount, without asking the mount itself.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Major and minor number of what is mounted last at a place, from proc_pid_mountinfo(5).
pub(super) fn of_mount(mountpoint: &Path) -> Option<(u32, u32)> {
    let table = std::fs::read("/proc/self/mountinfo").ok()?;
    let place = mountpoint.canonicalize().unwrap_or_else(|_| mountpoint.to_path_buf());
    table.split(|byte| *byte == b'\n').filter_map(|line| parse(line, &place)).next_back()
}

fn parse(line: &[u8], place: &Path) -> Option<(u32, u32)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = std::str::from_utf8(fields.nth(2)?).ok()?;
    let mounted_at = unescape(fields.nth(1)?);
    if mounted_at.as_bytes() != place.as_os_str().as_bytes() {
        return None;
    }
    let (major, minor) = device.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Space, tab, newline and backslash stand there in octal.
fn unescape(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = (first == b'\\').then(|| tail.get(..3)).flatten();
        let code = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_mount() {
        let line = br"40 28 0:43 / /mnt/a\040b rw,nosuid - fuse.threadfs /store rw";
        assert_eq!(parse(line, Path::new("/mnt/a b")), Some((0, 43)));
        assert_eq!(parse(line, Path::new("/mnt/a")), None);
        assert_eq!(parse(b"nonsense", Path::new("/")), None);
    }
}
