//! What can go wrong below the records.

use std::path::PathBuf;

/// The result of an engine's call.
pub type Result<T> = std::result::Result<T, Error>;

/// An engine's error; its text says what, where and what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process has the store open.
    #[error("the store {path} is in use by {holder}: unmount it there first")]
    InUse {
        /// The store.
        path: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// The directory holds something else.
    #[error(
        "{path} is not a threadfs store and not empty: give an empty or a new directory, \
         or the directory that an earlier mount created"
    )]
    NotAStore {
        /// The directory.
        path: PathBuf,
    },
    /// The operating system does not let this user at it.
    #[error("no permission for the store {path} ({detail}): run as the user who owns it")]
    Permission {
        /// The store.
        path: PathBuf,
        /// What was tried.
        detail: String,
    },
    /// The medium is full.
    #[error("no space left for the store ({detail}): free space on its disk")]
    NoSpace {
        /// What was tried.
        detail: String,
    },
    /// What was read is not what was written.
    #[error(
        "the store is damaged ({detail}): restore it from a backup, or copy what can still \
         be read from a read-only mount"
    )]
    Corrupt {
        /// What was found.
        detail: String,
    },
    /// The medium failed.
    #[error("the store failed: {detail}")]
    Io {
        /// What the medium or the library said.
        detail: String,
    },
    /// The engine cannot do that.
    #[error("the {engine} engine cannot {what}")]
    Unsupported {
        /// Its name.
        engine: &'static str,
        /// What was asked.
        what: &'static str,
    },
}
