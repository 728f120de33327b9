//! How a user names a store.

use std::path::PathBuf;

use super::{Error, Result};

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreSpec {
    /// `memory:`, gone with the process.
    Memory,
    /// A directory, kept by RocksDB.
    Directory(PathBuf),
}

impl StoreSpec {
    /// Reads what a user typed: `memory:`, `rocksdb:DIRECTORY` or a directory.
    ///
    /// # Errors
    /// An empty text, or the name of an engine that does not exist.
    pub fn parse(text: &str) -> Result<StoreSpec> {
        let wrong = |what: String| Err(Error::Io { detail: what });
        match text.split_once(':') {
            Some(("memory", "")) => return Ok(StoreSpec::Memory),
            Some(("memory", _)) => return wrong("write memory: with nothing behind it".into()),
            Some(("rocksdb", path)) if !path.is_empty() => return Ok(StoreSpec::Directory(path.into())),
            Some((scheme, _)) if !scheme.is_empty() && !scheme.contains(['/', '.']) => {
                return wrong(format!(
                    "there is no engine named {scheme:?}: give a directory, rocksdb:DIRECTORY or memory: \
                     (a directory whose name has a colon: ./{text})"
                ));
            }
            _ => {}
        }
        if text.is_empty() {
            return wrong("the name of the store is empty: give a directory or memory:".into());
        }
        Ok(StoreSpec::Directory(text.into()))
    }
}

impl std::fmt::Display for StoreSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreSpec::Memory => f.write_str("memory:"),
            StoreSpec::Directory(path) => write!(f, "{}", path.display()),
        }
    }
}
