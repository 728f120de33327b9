//! Which names are legal, and which are the filesystem's own.

use super::error::{Result, refuse};
use super::node::Node;

/// Longest name in bytes, `NAME_MAX` of limits.h(0p).
pub const NAME_MAX: usize = 255;

/// Longest target of a symlink in bytes, `PATH_MAX` less the NUL.
pub const TARGET_MAX: usize = 4095;

/// More directories than a path can name: a walk that gets there has met damage.
pub const MAX_DEPTH: usize = 1 << 20;

/// The directory of virtual files, in the root.
pub const CONTROL: &[u8] = b".threadfs";

/// The directory of snapshots, in each thread and in the root.
pub const SNAPSHOTS: &[u8] = b".snapshots";

/// Whether a name in a directory is the filesystem's own.
pub fn is_reserved(dir: Node, name: &[u8]) -> bool {
    match name {
        CONTROL => dir == Node::ROOT,
        SNAPSHOTS => dir == Node::ROOT || dir.is_thread_root(),
        _ => false,
    }
}

/// Checks the name of something to be made.
///
/// # Errors
/// ENAMETOOLONG over [`NAME_MAX`]; EINVAL for what the kernel never passes; EPERM for the
/// filesystem's own names.
pub fn check_new(dir: Node, name: &[u8]) -> Result<()> {
    if name.len() > NAME_MAX {
        return refuse(libc::ENAMETOOLONG);
    }
    if name.is_empty() || name == b"." || name == b".." || name.contains(&0) || name.contains(&b'/') {
        return refuse(libc::EINVAL);
    }
    if is_reserved(dir, name) {
        return refuse(libc::EPERM);
    }
    Ok(())
}
