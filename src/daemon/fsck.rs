//! Checking a store that is not mounted.

use std::path::Path;

use super::error::Error;
use crate::engine::{self, EngineOptions, StoreSpec};
use crate::store::Store;
use crate::store::check::{Report, check_with};

/// Checks the store in a directory, and every snapshot in it if asked. Nothing is repaired.
///
/// # Errors
/// There is no store, it is in use, or it cannot be read.
pub fn fsck(directory: &Path, snapshots: bool) -> Result<Report, Error> {
    let shown = directory.display().to_string();
    if !directory.is_dir() {
        return Err(Error::Refused(format!("there is no store {shown}: give the directory that was mounted")));
    }
    let is_empty = std::fs::read_dir(directory).map_err(Error::system(format!("list {shown}")))?.next().is_none();
    if is_empty {
        return Err(Error::Refused(format!("{shown} is empty: give the directory of a store")));
    }
    let options = EngineOptions { holder: String::from("threadfs fsck"), ..EngineOptions::default() };
    let engine = engine::open(&StoreSpec::Directory(directory.to_path_buf()), &options)?;
    let store = |source| Error::Store { path: shown.clone(), source };
    let opened = Store::open(engine).map_err(store)?;
    check_with(&opened, snapshots).map_err(store)
}
