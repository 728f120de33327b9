//! What is asked by setting an attribute: making a thread in a directory.
//!
//! `setxattr(DIR, "user.threadfs.fork", "INODE\0SNAPSHOT\0NAME")` makes in DIR the thread NAME, which begins as
//! the thread whose directory has that inode number is, or was at the snapshot. That way the kernel checks
//! that the caller may write in DIR, with everything that such a check means. Nothing of it is stored.

use crate::fs::attr::Caller;
use crate::fs::error::{Error, Result, refuse};
use crate::fs::names;
use crate::fs::snapshot::UNDELETE;
use crate::fs::{Fs, Node};
use crate::store::Records;

/// Begins a thread as another one is, or was.
const FORK: &[u8] = b"user.threadfs.fork";

/// Whether setting an attribute of this name is a request, and not an attribute.
pub(in crate::fs) fn is_request(name: &[u8]) -> bool {
    name == FORK || name == UNDELETE
}

/// The source, the snapshot (empty for none) and the new name in a value.
fn parts(value: &[u8]) -> Result<(u64, &[u8], &[u8])> {
    let mut parts = value.split(|byte| *byte == 0);
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(number), Some(snapshot), Some(name), None) => {
            let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
            Ok((number.ok_or(Error::Errno(libc::EINVAL))?, snapshot, name))
        }
        _ => refuse(libc::EINVAL),
    }
}

impl Fs {
    /// setxattr(2): an attribute, or a request.
    ///
    /// # Errors
    /// EEXIST with XATTR_CREATE, ENODATA with XATTR_REPLACE; ERANGE for a name over 255 bytes, E2BIG for a
    /// value over 64 KiB, ENOSPC when the names would be too many to list; EOPNOTSUPP for a name of no known
    /// kind; EINVAL for an access control list that is none, EACCES for a default one of what is no directory. For
    /// a request also EINVAL for what cannot be read, ENOENT for a thread or a snapshot that does not exist,
    /// EPERM for somebody else's thread, EEXIST.
    pub fn setxattr(&self, caller: Caller, node: Node, name: &[u8], value: &[u8], flags: i32) -> Result<()> {
        match name {
            FORK => self.fork_request(caller, node, value),
            _ => self.set_attribute(caller, node, name, value, flags),
        }
    }

    fn fork_request(&self, caller: Caller, dir: Node, value: &[u8]) -> Result<()> {
        if dir.is_virtual() {
            return refuse(libc::EROFS);
        }
        let (ino, snapshot, name) = parts(value)?;
        names::check_new(dir, name)?;
        let source = Node::from_ino(ino);
        if source.is_virtual() || !source.is_thread_root() {
            return refuse(libc::EINVAL);
        }
        let Some(root) = self.store.reader().inode(source.realm, source.local)? else { return refuse(libc::ENOENT) };
        if caller.uid != 0 && caller.uid != root.uid {
            return refuse(libc::EPERM);
        }
        let at = match snapshot {
            b"" => None,
            snapshot => match self.kept_state(source.realm, snapshot)? {
                Some((epoch, _)) => Some(epoch),
                None => return refuse(libc::ENOENT),
            },
        };
        self.fork(source.realm, at, dir, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!(parts(b"7\0\0new").unwrap(), (7, &b""[..], &b"new"[..]));
        assert_eq!(parts(b"7\0snap\0new").unwrap(), (7, &b"snap"[..], &b"new"[..]));
        for wrong in [&b""[..], b"7", b"7\0a", b"x\0a\0b", b"7\0a\0b\0c"] {
            assert_eq!(parts(wrong).unwrap_err().errno(), libc::EINVAL);
        }
    }
}
