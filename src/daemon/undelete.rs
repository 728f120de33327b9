//! Asking a mount to bring a deleted thread back.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::error::Error;
use super::{Mounted, sys};

/// What stands before a realm's number where a thread is named by that.
const REALM: &str = "realm:";

/// Brings a thread back, named by its path, its id or `realm:N`; under its old path or `new`, as it was
/// at the snapshot `at` or the newest. Returns the path.
///
/// # Errors
/// No such thread is kept, or several are; what the mount refused.
pub fn undelete(mounted: &Mounted, thread: &str, new: Option<&str>, at: Option<&str>) -> Result<PathBuf, Error> {
    let kept = mounted.read_json("deleted.json")?;
    let found = choose(kept.as_array().map(Vec::as_slice).unwrap_or_default(), thread, mounted)?;
    let old = PathBuf::from(text(found, "path"));
    let path = match new {
        None => old.clone(),
        // A bare name is one beside the old one.
        Some(new) if !new.contains('/') => old.with_file_name(new),
        Some(new) => inside(mounted, new)?,
    };
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::Refused(format!("{} cannot be a thread", path.display())));
    };
    let realm = found.get("realm").and_then(Value::as_u64).unwrap_or_default().to_string();
    let value = [realm.as_bytes(), at.unwrap_or_default().as_bytes(), name.as_bytes()].join(&0);
    sys::set_attribute(&mounted.path.join(dir), "user.threadfs.undelete", &value)
        .map_err(|error| explain(error, thread, &path, dir, at))?;
    Ok(mounted.path.join(path))
}

fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A path as it is from the root of the mount.
fn inside(mounted: &Mounted, given: &str) -> Result<PathBuf, Error> {
    let path = Path::new(given);
    let path = if path.is_absolute() { path.strip_prefix(&mounted.path).ok() } else { Some(path) };
    let path = path.filter(|path| path.components().all(|part| matches!(part, Component::Normal(_))));
    path.map(Path::to_path_buf)
        .ok_or_else(|| Error::Refused(format!("{given} is no path in the mount {}", mounted.path.display())))
}

/// The thread that is meant: of one path, the one that was deleted last. `kept` has that one first.
fn choose<'a>(kept: &'a [Value], thread: &str, mounted: &Mounted) -> Result<&'a Value, Error> {
    let found: Vec<&Value> = match thread.strip_prefix(REALM).map(str::parse::<u64>) {
        Some(Ok(realm)) => kept.iter().filter(|entry| entry.get("realm") == Some(&Value::from(realm))).collect(),
        _ if thread.contains('/') => {
            let path = inside(mounted, thread)?;
            kept.iter().filter(|entry| Path::new(text(entry, "path")) == path).collect()
        }
        _ => kept.iter().filter(|entry| text(entry, "id") == thread).collect(),
    };
    match found.first() {
        None => Err(Error::Refused(format!("no deleted thread {thread:?} is kept: threadfs deleted lists them"))),
        Some(first) if found.iter().all(|entry| text(entry, "path") == text(first, "path")) => Ok(*first),
        Some(_) => {
            let line = |entry: &&Value| {
                let realm = entry.get("realm").and_then(Value::as_u64).unwrap_or_default();
                format!("  {REALM}{realm}  {}, deleted {}", text(entry, "path"), text(entry, "deleted"))
            };
            let lines: Vec<String> = found.iter().map(line).collect();
            Err(Error::Refused(format!(
                "several deleted threads are called {thread:?}, say which:\n{}",
                lines.join("\n")
            )))
        }
    }
}

fn explain(error: io::Error, thread: &str, path: &Path, dir: &Path, at: Option<&str>) -> Error {
    let (shown, dir) = (path.display(), dir.display());
    match error.raw_os_error() {
        Some(libc::EEXIST) => Error::Refused(format!("{shown} is there: give a new name for the thread")),
        Some(libc::EINVAL) => {
            Error::Refused(format!("{shown} does not match threads.patterns, so it can be no thread"))
        }
        Some(libc::EPERM) => Error::Refused(format!("no permission: only root and its owner can bring {thread} back")),
        Some(libc::EACCES) => Error::Refused(format!("no permission to make something in {dir}")),
        Some(libc::ENOENT) => Error::Refused(match at {
            Some(at) => format!("{thread} has no snapshot {at:?}, or the directory {dir} is not there"),
            None => format!("{thread} is no longer kept, or the directory {dir} is not there: make it first"),
        }),
        _ => Error::System { action: format!("bring {thread} back as {shown}"), source: error },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::daemon::Status;
    use serde_json::json;

    #[test]
    fn which_one_is_meant() {
        let status: Status =
            serde_json::from_value(json!({"version": "", "pid": 1, "store": "", "engine": "", "mountpoint": ""}))
                .unwrap();
        let mounted = Mounted { path: "/m".into(), status };
        let kept = [
            json!({"realm": 5, "id": "a", "path": "threads/a"}),
            json!({"realm": 4, "id": "b", "path": "threads/b"}),
            json!({"realm": 3, "id": "b", "path": "users/7/threads/b"}),
            json!({"realm": 2, "id": "a", "path": "threads/a"}),
        ];
        let realm = |thread: &str| choose(&kept, thread, &mounted).map(|entry| entry["realm"].as_u64().unwrap());
        assert_eq!(realm("a").unwrap(), 5);
        assert_eq!(realm("threads/b").unwrap(), 4);
        assert_eq!(realm("/m/users/7/threads/b").unwrap(), 3);
        assert_eq!(realm("realm:2").unwrap(), 2);
        let told = realm("b").unwrap_err().to_string();
        assert!(told.contains("realm:4  threads/b") && told.contains("realm:3  users/7/threads/b"), "{told}");
        assert!(realm("c").is_err() && realm("/elsewhere/threads/a").is_err() && realm("realm:9").is_err());
    }
}
