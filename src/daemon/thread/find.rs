//! Which thread a user means.
//!
//! A path leads to the thread that it is, or is in. A plain name is an id: it is looked up in the mount that
//! was given, else in that of the current directory, else in that of `$DEER_FLOW_HOME`, by the patterns for
//! threads of the mount's own configuration. `/` and the mountpoint stand for the whole home.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use super::Thread;
use crate::daemon::control::{KIND, Mounted, resolve};
use crate::daemon::error::Error;
use crate::daemon::mountinfo;
use crate::fs::{Node, escaped};
use crate::suggest::unknown;

/// The variable that tells where the home is.
const HOME_VARIABLE: &str = "DEER_FLOW_HOME";

/// Whether a directory is a thread's: its inode number says so, whatever the patterns are by now.
fn is_thread(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| {
        let node = Node::from_ino(metadata.ino());
        metadata.is_dir() && node.is_thread_root() && !node.is_virtual()
    })
}

/// Where the threadfs mount begins that a path is in.
fn mount_of(path: &Path) -> Option<PathBuf> {
    let mount = mountinfo::containing(path).ok()??;
    (mount.kind == KIND).then_some(mount.mountpoint)
}

pub(super) fn find(given: &OsStr, mount: Option<&Path>) -> Result<Thread, Error> {
    let is_path = given.as_bytes().contains(&b'/') || given == "." || given == "..";
    if given == "/" {
        let mountpoint = mount_meant(given, mount)?;
        return Ok(Thread { path: mountpoint.clone(), mountpoint });
    }
    if is_path {
        if let Some(thread) = at_path(Path::new(given))? {
            return Ok(thread);
        }
        if let Some(thread) = mount.map(|mount| at_path(&mount.join(given))).transpose()?.flatten() {
            return Ok(thread);
        }
        return Err(Error::Refused(format!("{} does not exist", given.display())));
    }
    // A thread in the current directory, before the ids of all.
    if mount.is_none()
        && is_thread(Path::new(given))
        && let Some(thread) = at_path(Path::new(given))?
    {
        return Ok(thread);
    }
    match mount_meant(given, mount) {
        Ok(mountpoint) => by_id(given, mountpoint),
        // A mountpoint may be called by a plain name, too.
        Err(error) => at_path(Path::new(given)).ok().flatten().ok_or(error),
    }
}

/// The mount to look in.
fn mount_meant(given: &OsStr, mount: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(mount) = mount {
        return Ok(Mounted::open(mount)?.path);
    }
    let current = std::env::current_dir().ok().and_then(|dir| mount_of(&dir));
    let home = || std::env::var_os(HOME_VARIABLE).and_then(|home| mount_of(&resolve(Path::new(&home)).ok()?));
    current.or_else(home).ok_or_else(|| {
        Error::Refused(format!(
            "cannot tell which mount {:?} is in: give a path or --mount, go to a directory of the mount, or set \
             {HOME_VARIABLE}",
            escaped(given.as_bytes())
        ))
    })
}

/// The thread that a path is or is in; None when there is nothing at the path.
fn at_path(path: &Path) -> Result<Option<Thread>, Error> {
    let shown = path.display();
    let path = match resolve(path) {
        Ok(path) => path,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::System { action: format!("use {shown}"), source: error }),
    };
    let Some(mountpoint) = mount_of(&path) else {
        return Err(Error::Refused(format!("{shown} is in no threadfs mount")));
    };
    if path == mountpoint {
        return Ok(Some(Thread { path, mountpoint }));
    }
    let mut at = Some(&*path);
    while let Some(dir) = at.filter(|dir| dir.starts_with(&mountpoint)) {
        if is_thread(dir) {
            return Ok(Some(Thread { path: dir.to_path_buf(), mountpoint }));
        }
        at = dir.parent();
    }
    Err(Error::Refused(format!("{shown} is in no thread; the mountpoint {} stands for all", mountpoint.display())))
}

fn by_id(id: &OsStr, mountpoint: PathBuf) -> Result<Thread, Error> {
    let mut found = Vec::new();
    let mut others = Vec::new();
    for pattern in patterns(&mountpoint) {
        for dir in parents(&mountpoint, &pattern) {
            found.extend(Some(dir.join(id)).filter(|path| is_thread(path)));
            others.push(dir);
        }
    }
    found.sort();
    found.dedup();
    match found.len() {
        0 => {
            let names = others.iter().flat_map(|dir| names_in(dir)).map(|name| escaped(name.as_bytes()));
            let names: Vec<String> = names.collect();
            let told = unknown("thread", &escaped(id.as_bytes()), names.iter().map(String::as_str));
            Err(Error::Refused(format!("{told} (in {})", mountpoint.display())))
        }
        1 => Ok(Thread { path: found.swap_remove(0), mountpoint }),
        _ => {
            let paths: Vec<String> = found.iter().map(|path| format!("  {}", path.display())).collect();
            let id = escaped(id.as_bytes());
            Err(Error::Refused(format!(
                "several threads have the id {id:?}; give the path of one:\n{}",
                paths.join("\n")
            )))
        }
    }
}

/// The mount's own patterns for threads.
fn patterns(mountpoint: &Path) -> Vec<String> {
    let text = fs::read_to_string(mountpoint.join(".threadfs/config.toml")).unwrap_or_default();
    let config: toml::Table = text.parse().unwrap_or_default();
    let patterns = config.get("threads").and_then(|threads| threads.get("patterns")).and_then(toml::Value::as_array);
    patterns.into_iter().flatten().filter_map(|pattern| Some(pattern.as_str()?.to_string())).collect()
}

fn names_in(dir: &Path) -> Vec<OsString> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
}

/// The directories whose entries a pattern is about, as far as this user may look.
fn parents(mountpoint: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut parts: Vec<&str> = pattern.split('/').collect();
    parts.pop();
    parts.iter().fold(vec![mountpoint.to_path_buf()], |dirs, part| {
        let is_plain = !part.contains(['*', '?', '[', '{', '\\']);
        let glob = GlobBuilder::new(part).literal_separator(true).build().map(|glob| glob.compile_matcher());
        let below = |dir: &PathBuf| match &glob {
            _ if is_plain => vec![dir.join(part)],
            Ok(glob) => names_in(dir).iter().filter(|name| glob.is_match(name)).map(|name| dir.join(name)).collect(),
            Err(_) => Vec::new(),
        };
        dirs.iter().flat_map(below).filter(|dir| dir.is_dir()).collect()
    })
}
