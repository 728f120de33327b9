//! What a command can fail with: what happened, where, and what to do.

use std::io;

use super::config;
use super::lifecycle::mountpoint;
use crate::{engine, fs, store};

/// The reason why a command failed, written for the person who gave it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration has mistakes.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The mountpoint cannot be used.
    #[error(transparent)]
    Mountpoint(#[from] mountpoint::Problem),
    /// The engine did not open the store.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The records in the store cannot be used.
    #[error("cannot use the store {path}: {source}")]
    Store {
        /// The store.
        path: String,
        /// Why.
        source: store::Error,
    },
    /// The filesystem did not start.
    #[error("cannot start the filesystem of the store {path}: {source}")]
    Filesystem {
        /// The store.
        path: String,
        /// Why.
        source: fs::Error,
    },
    /// A call of the operating system failed.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried, as it goes on after "cannot".
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// A refusal or a report of another process, complete as it is.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// For `map_err`: the action goes on after "cannot".
    pub fn system(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let action = action.into();
        move |source| Error::System { action, source }
    }
}
