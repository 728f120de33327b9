//! A thread on a mount, seen from a command: found by a path or an id, asked through the control file
//! of its snapshots with the rights of whoever runs the command.

pub mod fields;
mod find;

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::Error;
use super::sys;
use crate::fs::{Reply, Request, escaped, unescaped};
use crate::suggest::unknown;

/// The directory of snapshots in a thread and in the root.
const SNAPSHOTS: &str = ".snapshots";

/// A thread, or the whole home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its directory; of the home, the mountpoint.
    pub path: PathBuf,
    /// Where the mount begins.
    pub mountpoint: PathBuf,
}

/// A name or a path from the command line, as requests have it.
pub fn text_of(name: &OsStr) -> String {
    escaped(name.as_bytes())
}

/// A name or a path from a reply, as the system has it.
pub fn name_of(text: &str) -> OsString {
    let bytes = unescaped(text).unwrap_or_else(|| text.as_bytes().to_vec());
    OsStr::from_bytes(&bytes).to_os_string()
}

impl Thread {
    /// Finds a thread: see [`find`](self::find).
    ///
    /// # Errors
    /// There is none; says what is like it.
    pub fn find(given: &OsStr, mount: Option<&Path>) -> Result<Thread, Error> {
        find::find(given, mount)
    }

    /// For messages: as it stands below the mountpoint.
    pub fn shown(&self) -> String {
        match self.path.strip_prefix(&self.mountpoint) {
            Ok(below) if below.as_os_str().is_empty() => String::from("the whole home"),
            Ok(below) => below.display().to_string(),
            Err(_) => self.path.display().to_string(),
        }
    }

    fn is_home(&self) -> bool {
        self.path == self.mountpoint
    }

    /// A snapshot's directory.
    pub fn snapshot(&self, name: &OsStr) -> PathBuf {
        self.path.join(SNAPSHOTS).join(name)
    }

    /// Sends a request to the daemon and waits for the reply.
    ///
    /// # Errors
    /// The request was refused; or this user may not ask.
    pub fn ask(&self, request: &Request) -> Result<Value, Error> {
        let control = self.snapshot(OsStr::new(".control"));
        let shown = self.shown();
        let mut file =
            OpenOptions::new().read(true).write(true).open(&control).map_err(|error| match error.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) => Error::Refused(format!(
                    "no permission for the snapshots of {shown}: only the owner of its directory and root may use \
                     this command"
                )),
                Some(libc::EROFS) => Error::Refused(format!(
                    "the mount is read-only, and this command has to write its request: look into {}",
                    self.path.join(SNAPSHOTS).display()
                )),
                _ => Error::System { action: format!("open {}", control.display()), source: error },
            })?;
        let text = serde_json::to_vec(request).unwrap_or_default();
        let mut exchange = || -> io::Result<Vec<u8>> {
            // One call: the daemon takes what it gets as the whole request.
            if file.write(&text)? != text.len() {
                return Err(io::ErrorKind::WriteZero.into());
            }
            file.seek(SeekFrom::Start(0))?;
            let mut reply = Vec::new();
            file.read_to_end(&mut reply)?;
            Ok(reply)
        };
        let reply = exchange().map_err(Error::system(format!("ask the daemon about {shown}")))?;
        match serde_json::from_slice(&reply) {
            Ok(Reply::Ok(value)) => Ok(value),
            Ok(Reply::Error(refusal)) => Err(Error::Refused(format!("{shown}: {}", refusal.message))),
            Err(error) => Err(Error::Refused(format!("the daemon's reply cannot be read: {error}"))),
        }
    }

    /// The real name of a snapshot: a time such as `@2026-11-30T11:55:00Z` stands for the newest that old.
    pub fn real_name(&self, name: &OsStr) -> Result<OsString, Error> {
        if !name.as_bytes().starts_with(b"@") {
            return Ok(name.to_os_string());
        }
        match fs::read_link(self.snapshot(name)) {
            Ok(target) => Ok(target.into_os_string()),
            Err(error) => Err(self.snapshot_error("find", name, error)),
        }
    }

    /// Drops a snapshot; gives back its real name.
    pub fn drop_snapshot(&self, name: &OsStr) -> Result<OsString, Error> {
        let name = self.real_name(name)?;
        if name.is_empty() || name.as_bytes().contains(&b'/') || name == "." || name == ".." {
            return Err(self.snapshot_error("delete", &name, io::ErrorKind::NotFound.into()));
        }
        match fs::remove_dir(self.snapshot(&name)) {
            Ok(()) => Ok(name),
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(Error::Refused(format!(
                "{}: {1:?} is a snapshot of the whole home, not of the thread alone: threadfs snapshot delete {2} {1}",
                self.shown(),
                text_of(&name),
                self.mountpoint.display()
            ))),
            Err(error) => Err(self.snapshot_error("delete", &name, error)),
        }
    }

    fn snapshot_error(&self, action: &str, name: &OsStr, error: io::Error) -> Error {
        let shown = self.shown();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let entries = fs::read_dir(self.path.join(SNAPSHOTS)).into_iter().flatten();
                let names: Vec<String> = entries.flatten().map(|entry| text_of(&entry.file_name())).collect();
                let told = unknown("snapshot", &text_of(name), names.iter().map(String::as_str));
                Error::Refused(format!("{shown}: {told}"))
            }
            io::ErrorKind::PermissionDenied => Error::Refused(format!(
                "no permission to {action} snapshots of {shown}: only the owner of its directory and root may"
            )),
            _ => Error::System { action: format!("{action} the snapshot {}", name.display()), source: error },
        }
    }

    /// A file of the thread as the daemon knows it: relative to the thread's directory.
    pub fn relative(&self, file: &Path) -> Result<String, Error> {
        let within = if file.is_absolute() {
            let parent = file.parent().and_then(|parent| fs::canonicalize(parent).ok());
            let whole = parent.zip(file.file_name()).map(|(parent, name)| parent.join(name));
            let within = whole.as_deref().and_then(|whole| whole.strip_prefix(&self.path).ok()).map(Path::to_path_buf);
            within.ok_or_else(|| Error::Refused(format!("{} is not in {}", file.display(), self.shown())))?
        } else {
            file.strip_prefix(".").unwrap_or(file).to_path_buf()
        };
        Ok(text_of(within.as_os_str()))
    }

    /// Has the kernel write back what is only in its memory, so that it is part of the present state.
    pub fn sync(&self) -> Result<(), Error> {
        sys::sync_filesystem(&self.path).map_err(Error::system(format!("sync {}", self.shown())))
    }

    /// Makes a thread that begins as this one is, or was at a snapshot. `new` is a path, or a name
    /// beside this thread. Gives back where it is.
    pub fn fork(&self, new: &OsStr, at: Option<&OsStr>) -> Result<PathBuf, Error> {
        if self.is_home() {
            return Err(Error::Refused(String::from("only threads can be forked, not the whole home")));
        }
        let (dir, name) = match new.as_bytes().contains(&b'/') {
            false => (self.path.parent().map(Path::to_path_buf), Some(new)),
            true => (Path::new(new).parent().map(Path::to_path_buf), Path::new(new).file_name()),
        };
        let (Some(dir), Some(name)) = (dir, name) else {
            return Err(Error::Refused(format!("{} is no name for a thread", new.display())));
        };
        let ino = fs::metadata(&self.path).map_err(Error::system(format!("look at {}", self.shown())))?.ino();
        let at = at.map(|at| self.real_name(at)).transpose()?;
        let snapshot = at.as_deref().unwrap_or_default();
        let value = [ino.to_string().as_bytes(), snapshot.as_bytes(), name.as_bytes()].join(&0);
        let path = dir.join(name);
        let shown = path.display();
        match sys::set_attribute(&dir, "user.threadfs.fork", &value) {
            Ok(()) => Ok(path),
            Err(error) => Err(match error.raw_os_error() {
                Some(libc::EPERM) => Error::Refused(format!(
                    "no permission to fork {}: only the owner of its directory and root may",
                    self.shown()
                )),
                Some(libc::EINVAL) => {
                    Error::Refused(format!("{shown} does not match threads.patterns, so it can be no thread"))
                }
                Some(libc::EACCES) => Error::Refused(format!("no permission to make something in {}", dir.display())),
                Some(libc::EOPNOTSUPP) => Error::Refused(format!("{} is in no threadfs mount", dir.display())),
                Some(libc::EEXIST) => Error::Refused(format!("{shown} exists already")),
                Some(libc::ENOENT) if dir.is_dir() && !snapshot.is_empty() => {
                    self.snapshot_error("fork", snapshot, error)
                }
                _ => Error::System { action: format!("make the thread {shown}"), source: error },
            }),
        }
    }
}
