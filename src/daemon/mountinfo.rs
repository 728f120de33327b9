//! What is mounted where, as the kernel tells it in /proc/PID/mountinfo.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The number of the filesystem, the same for all its mounts: `0:45`.
    pub device: String,
    /// Where it is mounted.
    pub mountpoint: PathBuf,
    /// The type: `ext4`, `fuse.threadfs`.
    pub kind: String,
    /// What is mounted; for a threadfs mount the store.
    pub source: String,
}

impl Mount {
    /// Whether a FUSE daemon serves it.
    pub fn is_fuse(&self) -> bool {
        self.kind == "fuse" || self.kind == "fuseblk" || self.kind.starts_with("fuse.")
    }

    fn parse(line: &[u8]) -> Option<Mount> {
        let mut fields = line.split(|byte| *byte == b' ');
        let device = String::from_utf8_lossy(fields.nth(2)?).into_owned();
        let mountpoint = PathBuf::from(OsString::from_vec(unescape(fields.nth(1)?)));
        // Optional fields of any number follow, up to a lone dash.
        fields.find(|field| *field == b"-")?;
        let mut text = || Some(String::from_utf8_lossy(&unescape(fields.next()?)).into_owned());
        Some(Mount { device, mountpoint, kind: text()?, source: text()? })
    }
}

/// Undoes the kernel's `\040` for white space and backslashes.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        if let ([b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..], Some(after)) = (rest, rest.get(4..)) {
            bytes.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

/// All mounts that a process sees (`"self"` for this one), the earliest first.
pub fn of_process(pid: &str) -> io::Result<Vec<Mount>> {
    let text = fs::read(format!("/proc/{pid}/mountinfo"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect())
}

/// The mount that is seen at a path: of several on top of each other, the last.
pub fn at(path: &Path) -> io::Result<Option<Mount>> {
    Ok(of_process("self")?.into_iter().rfind(|mount| mount.mountpoint == path))
}

/// The mount that a path is in.
pub fn containing(path: &Path) -> io::Result<Option<Mount>> {
    let mounts = of_process("self")?;
    let inside = mounts.into_iter().filter(|mount| path.starts_with(&mount.mountpoint));
    // max_by_key takes the last of equal ones, which is the one on top.
    Ok(inside.max_by_key(|mount| mount.mountpoint.components().count()))
}

/// The mounts below a path.
pub fn below(path: &Path) -> io::Result<Vec<Mount>> {
    let mut mounts = of_process("self")?;
    mounts.retain(|mount| mount.mountpoint != path && mount.mountpoint.starts_with(path));
    Ok(mounts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_with_and_without_optional_fields() {
        let line = b"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:4 - fuse.threadfs /var/lib/a\\134b rw";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(mount.device, "98:0");
        assert_eq!(mount.mountpoint, Path::new("/mnt 2"));
        assert_eq!(mount.source, "/var/lib/a\\b");
        assert!(mount.is_fuse());
        let plain = Mount::parse(b"1 0 8:1 / / rw - ext4 /dev/sda1 rw").unwrap();
        assert_eq!((plain.kind.as_str(), plain.is_fuse()), ("ext4", false));
        for broken in ["", "1 2", "1 0 8:1 / / rw ext4 /dev/sda1 rw"] {
            assert_eq!(Mount::parse(broken.as_bytes()), None);
        }
    }

    #[test]
    fn this_system() {
        assert!(at(Path::new("/proc")).unwrap().is_some_and(|mount| mount.kind == "proc"));
        assert!(at(Path::new("/proc/self")).unwrap().is_none());
        let inside = containing(Path::new("/proc/1/status")).unwrap().unwrap();
        assert_eq!(inside.mountpoint, Path::new("/proc"));
    }
}
