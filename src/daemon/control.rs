//! A running mount, seen from a command: found by its mountpoint, asked through its files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::mountinfo::{self, Mount};
use super::status::Status;
use super::sys;

/// The type under which the kernel lists a threadfs mount.
pub(super) const KIND: &str = "fuse.threadfs";

/// The directory of the daemon's own files below the mountpoint.
pub const DIRECTORY: &str = ".threadfs";

/// Whether an error means that the daemon of a mount is gone.
pub fn is_dead(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTCONN | libc::ECONNABORTED))
}

/// The absolute path of something that may be a dead mount, which cannot be looked into.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if is_dead(&error) => {
            let absolute = std::path::absolute(path)?;
            match (absolute.parent(), absolute.file_name()) {
                (Some(parent), Some(name)) => Ok(fs::canonicalize(parent)?.join(name)),
                _ => Ok(absolute),
            }
        }
        result => result,
    }
}

/// Finds what is mounted at a mountpoint, without a word to its daemon.
///
/// # Errors
/// It is no threadfs mount; says what it is instead.
pub fn find(given: &Path) -> Result<(PathBuf, Mount), Error> {
    let shown = given.display();
    let path = resolve(given).map_err(Error::system(format!("use the mountpoint {shown}")))?;
    let mount = mountinfo::at(&path).map_err(Error::system("read the list of mounts"))?;
    match mount.filter(Mount::is_fuse) {
        Some(mount) if mount.kind == KIND => Ok((path, mount)),
        Some(mount) => {
            Err(Error::Refused(format!("{shown} is not a threadfs mount but one of {} ({})", mount.kind, mount.source)))
        }
        None => Err(Error::Refused(format!("{shown} is not a threadfs mount{}", hint(&path).unwrap_or_default()))),
    }
}

/// A live threadfs mount.
#[derive(Debug, Clone)]
pub struct Mounted {
    /// Its mountpoint.
    pub path: PathBuf,
    /// What it said of itself when it was found.
    pub status: Status,
}

impl Mounted {
    /// Finds the mount at a mountpoint and asks it for its status.
    ///
    /// # Errors
    /// There is none, it is dead, or this user may not use it; says what to do.
    pub fn open(given: &Path) -> Result<Mounted, Error> {
        let shown = given.display();
        let (path, mount) = find(given)?;
        let probed = sys::probe_filesystem(&path).and_then(|()| Mounted::probe(&path, &mount));
        match probed {
            Ok(status) => Ok(Mounted { path, status }),
            Err(error) if is_dead(&error) => Err(Error::Refused(format!(
                "{shown} is a dead mount, its daemon is gone: threadfs umount {shown} clears it, \
                 and so does mounting there again"
            ))),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Error::Refused(format!(
                "no permission for the mount {shown}: run as the user who mounted it, or \
                     mount it with mount.allow_other"
            ))),
            Err(error) => Err(Error::System { action: format!("ask the daemon of {shown}"), source: error }),
        }
    }

    /// The mount that is meant: the given one, else the one that the working directory is in, else
    /// the only one there is.
    ///
    /// # Errors
    /// As [`Mounted::open`]; there is none, or there are several to choose from.
    pub fn locate(given: Option<&Path>) -> Result<Mounted, Error> {
        if let Some(given) = given {
            return Mounted::open(given);
        }
        let listed = |source| Error::System { action: String::from("read the list of mounts"), source };
        let here = std::env::current_dir().ok().map(|path| mountinfo::containing(&path)).transpose().map_err(listed)?;
        if let Some(here) = here.flatten().filter(|mount| mount.kind == KIND) {
            return Mounted::open(&here.mountpoint);
        }
        let mut all = mountinfo::of_process("self").map_err(listed)?;
        all.retain(|mount| mount.kind == KIND);
        match &all[..] {
            [] => Err(Error::Refused(String::from("no threadfs is mounted"))),
            [only] => Mounted::open(&only.mountpoint),
            _ => {
                let all: Vec<String> = all.iter().map(|mount| mount.mountpoint.display().to_string()).collect();
                Err(Error::Refused(format!("several are mounted: say which with --mount: {}", all.join(", "))))
            }
        }
    }

    /// Asks what is mounted at a path for its status; only a threadfs answers.
    pub fn probe(path: &Path, mount: &Mount) -> io::Result<Status> {
        if mount.kind != KIND {
            return Err(io::Error::new(io::ErrorKind::NotFound, "not a threadfs mount"));
        }
        let text = fs::read(path.join(DIRECTORY).join("status.json"))?;
        serde_json::from_slice(&text)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!(".threadfs/status.json: {error}")))
    }

    /// The path of one of the daemon's own files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(DIRECTORY).join(name)
    }

    /// Reads one of the daemon's own files.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.file(name);
        fs::read(&path).map_err(Error::system(format!("read {}", path.display())))
    }

    /// Reads one of the daemon's own files that is JSON.
    pub fn read_json(&self, name: &str) -> Result<serde_json::Value, Error> {
        let text = self.read(name)?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::Refused(format!("{} is not as expected: {error}", self.file(name).display())))
    }
}

/// For somebody who gave a path inside a mount: where it begins.
fn hint(path: &Path) -> Option<String> {
    let mount = mountinfo::containing(path).ok()??;
    let begins = mount.mountpoint.display();
    (mount.kind == KIND).then(|| format!("; the mount that it is in begins at {begins}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_ordinary_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(DIRECTORY)).unwrap();
        fs::write(dir.path().join(DIRECTORY).join("status.json"), "{}").unwrap();
        let error = Mounted::open(dir.path()).unwrap_err().to_string();
        assert_eq!(error, format!("{} is not a threadfs mount", dir.path().display()));
        let error = Mounted::open(&dir.path().join("no")).unwrap_err().to_string();
        assert!(error.starts_with("cannot use the mountpoint "), "{error}");
    }
}
