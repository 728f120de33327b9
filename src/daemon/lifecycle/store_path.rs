//! The directory of a store: made absolute, kept apart from the mountpoint, created.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::daemon::error::Error;
use crate::engine::StoreSpec;

/// Makes a store ready to be opened, from any working directory.
pub fn prepare(spec: StoreSpec, mountpoint: &Path) -> Result<StoreSpec, Error> {
    let StoreSpec::Directory(given) = spec else { return Ok(spec) };
    let action = || Error::system(format!("use the store {}", given.display()));
    let path = resolve(&given).map_err(action())?;
    let shown = path.display();
    if path.starts_with(mountpoint) || mountpoint.starts_with(&path) {
        return Err(Error::Refused(format!(
            "the store {shown} and the mountpoint {} are inside one another: a filesystem cannot \
             be kept in itself; give directories apart",
            mountpoint.display()
        )));
    }
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => {
            return Err(Error::Refused(format!(
                "the store {shown} is not a directory: give a directory, or one to be created"
            )));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(&path).map_err(Error::system(format!("create the store {shown}")))?
        }
        Err(error) => return Err(action()(error)),
    }
    Ok(StoreSpec::Directory(path))
}

/// The absolute path without links, of which the last parts may not exist yet.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let absolute = std::path::absolute(path)?;
            match (absolute.parent(), absolute.file_name()) {
                (Some(parent), Some(name)) => Ok(resolve(parent)?.join(name)),
                _ => Err(error),
            }
        }
        result => result,
    }
}

/// Creates the directory for its owner only, as it holds what all users of the mount store.
fn create(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    DirBuilder::new().mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn directory(path: &Path) -> StoreSpec {
        StoreSpec::Directory(path.to_owned())
    }

    #[test]
    fn a_missing_store_is_created_for_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap().join("a/b");
        let spec = prepare(directory(&path), Path::new("/mnt/x")).unwrap();
        assert_eq!(spec, directory(&path));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(prepare(spec.clone(), Path::new("/mnt/x")).unwrap(), spec);
    }

    #[test]
    fn refusals_change_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let inside = prepare(directory(&root.join("store")), &root).unwrap_err().to_string();
        assert!(inside.contains("inside one another"), "{inside}");
        assert!(prepare(directory(&root), &root.join("mount")).is_err());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
        fs::write(root.join("file"), "x").unwrap();
        let file = prepare(directory(&root.join("file")), Path::new("/mnt/x")).unwrap_err().to_string();
        assert!(file.contains("is not a directory"), "{file}");
        let below = prepare(directory(&root.join("file/x")), Path::new("/mnt/x")).unwrap_err();
        assert!(below.to_string().starts_with("cannot use the store"), "{below}");
    }

    #[test]
    fn memory_needs_nothing() {
        assert_eq!(prepare(StoreSpec::Memory, Path::new("/")).unwrap(), StoreSpec::Memory);
    }
}
