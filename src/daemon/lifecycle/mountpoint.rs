//! Whether a directory can be mounted on.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::detach::detach;
use crate::daemon::control::{Mounted, is_dead, resolve};
use crate::daemon::mountinfo::{self, Mount};
use crate::daemon::sys;

/// How many dead mounts on top of each other are cleared.
const MOST_DEAD_MOUNTS: usize = 16;

/// Why a mountpoint was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is nothing.
    #[error("the mountpoint {0} does not exist: create it with mkdir -p {0}")]
    Missing(PathBuf),
    /// There is something else.
    #[error("the mountpoint {0} is not a directory: give a directory")]
    NotDirectory(PathBuf),
    /// There are files in it.
    #[error(
        "the mountpoint {0} is not empty, and the mount would hide what is in it: give an empty \
         directory, or --nonempty"
    )]
    NotEmpty(PathBuf),
    /// Another command is about to mount there.
    #[error(
        "another process has {0} locked, most likely a command that is mounting on it at this \
         moment: wait for it, or give another directory"
    )]
    Claimed(PathBuf),
    /// A threadfs is mounted there.
    #[error(
        "{path} is already a threadfs mount, of the store {store} by pid {pid}: \
         threadfs umount {path} ends it"
    )]
    Live {
        /// The mountpoint.
        path: PathBuf,
        /// What is mounted.
        store: String,
        /// Its daemon.
        pid: u32,
    },
    /// Another FUSE filesystem is mounted there.
    #[error(
        "{path} is already a mount of {kind} ({source_name}): give another directory, or unmount \
         that first"
    )]
    Foreign {
        /// The mountpoint.
        path: PathBuf,
        /// Its type.
        kind: String,
        /// What is mounted.
        source_name: String,
    },
    /// A dead mount did not go away.
    #[error("{path} is a dead mount and cannot be detached ({source}): run umount -l {path} as root")]
    Dead {
        /// The mountpoint.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The system does not let this user at it.
    #[error("cannot use the mountpoint {path}: {source}")]
    Unusable {
        /// The mountpoint.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Keeps other commands from mounting on the same directory until the file is dropped.
pub fn claim(path: &Path) -> Result<Option<File>, Problem> {
    // What cannot be opened is judged by `check`. A directory on a filesystem without locks is
    // used without: the claim only closes a gap of milliseconds.
    let Ok(file) = File::open(path) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Problem::Claimed(path.to_owned())),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// A mountpoint that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its absolute path.
    pub path: PathBuf,
    /// Whether a dead mount was cleared from it.
    pub was_dead: bool,
}

/// Checks a mountpoint, and clears a dead mount from it.
pub fn check(given: &Path, nonempty: bool) -> Result<Checked, Problem> {
    let unusable = |source| Problem::Unusable { path: given.to_owned(), source };
    let path = match resolve(given) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Problem::Missing(given.to_owned()));
        }
        Err(error) => return Err(unusable(error)),
    };
    let was_dead = clear_dead(&path)?;
    if !fs::metadata(&path).map_err(unusable)?.is_dir() {
        return Err(Problem::NotDirectory(path));
    }
    if let Some(mount) = mountinfo::at(&path).map_err(unusable)?.filter(Mount::is_fuse) {
        return Err(occupied(path, mount));
    }
    if !nonempty && fs::read_dir(&path).map_err(unusable)?.next().is_some() {
        return Err(Problem::NotEmpty(path));
    }
    Ok(Checked { path, was_dead })
}

/// Detaches dead mounts; whether there was one.
fn clear_dead(path: &Path) -> Result<bool, Problem> {
    for cleared in 0..MOST_DEAD_MOUNTS {
        match sys::probe_filesystem(path) {
            Err(error) if is_dead(&error) => {
                detach(path, true).map_err(|source| Problem::Dead { path: path.to_owned(), source })?
            }
            // Any other error shows again in the next check, which tells it.
            _ => return Ok(cleared > 0),
        }
    }
    Ok(true)
}

fn occupied(path: PathBuf, mount: Mount) -> Problem {
    match Mounted::probe(&path, &mount) {
        Ok(status) => Problem::Live { path, store: status.store, pid: status.pid },
        Err(_) => Problem::Foreign { path, kind: mount.kind, source_name: mount.source },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ordinary_refusals() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(check(&root, false).unwrap(), Checked { path: root.clone(), was_dead: false });
        let missing = root.join("missing");
        let message = check(&missing, false).unwrap_err().to_string();
        assert_eq!(
            message,
            format!("the mountpoint {0} does not exist: create it with mkdir -p {0}", missing.display())
        );
        fs::write(root.join("file"), "x").unwrap();
        assert!(matches!(check(&root.join("file"), false), Err(Problem::NotDirectory(_))));
        assert!(matches!(check(&root, false), Err(Problem::NotEmpty(_))));
        assert_eq!(check(&root, true).unwrap().path, root);
    }

    #[test]
    fn links_lead_to_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert_eq!(check(&root.join("link"), false).unwrap().path, root.join("real"));
    }

    #[test]
    fn one_command_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = claim(dir.path()).unwrap();
        assert!(matches!(claim(dir.path()), Err(Problem::Claimed(_))));
        drop(first);
        assert!(claim(dir.path()).unwrap().is_some());
        assert!(claim(&dir.path().join("missing")).unwrap().is_none());
    }
}
