//! What stands at a path in the tree of mounts.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::{c_path, check};

/// Asks the filesystem at a path for its numbers, to learn whether it answers.
///
/// A FUSE daemon is always asked for these, whatever the kernel has cached: a dead mount shows
/// as ENOTCONN here even where `stat` still answers.
pub fn probe_filesystem(path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    let mut buffer = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with NUL, and the buffer is one that statfs may fill.
    check(unsafe { libc::statfs(path.as_ptr(), buffer.as_mut_ptr()) }).map(drop)
}

/// Unmounts; with `detach` now from the tree and for good when the last user is gone.
pub fn unmount(path: &Path, detach: bool) -> io::Result<()> {
    let path = c_path(path)?;
    let flags = libc::UMOUNT_NOFOLLOW | if detach { libc::MNT_DETACH } else { 0 };
    // SAFETY: the path ends with NUL.
    check(unsafe { libc::umount2(path.as_ptr(), flags) }).map(drop)
}

/// Replaces the flags of a mount and of its filesystem; what is open goes on.
pub fn remount(path: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let path = c_path(path)?;
    let (source, kind, data) = (std::ptr::null(), std::ptr::null(), std::ptr::null());
    // SAFETY: the path ends with NUL, and with MS_REMOUNT the kernel takes the others as absent.
    check(unsafe { libc::mount(source, path.as_ptr(), kind, libc::MS_REMOUNT | flags, data) }).map(drop)
}

/// Has the kernel write the changed pages of a filesystem back to it.
pub fn sync_filesystem(path: &Path) -> io::Result<()> {
    let root = File::open(path)?;
    // SAFETY: the descriptor is open.
    check(unsafe { libc::syncfs(root.as_raw_fd()) }).map(drop)
}
