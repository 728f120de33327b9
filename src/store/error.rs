//! What can go wrong with records.

use crate::engine;

/// The result of a call on the store.
pub type Result<T> = std::result::Result<T, Error>;

/// A store's error; its text says what, where and what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The store was written by a newer threadfs.
    #[error(
        "the store has format {found} and this threadfs knows up to {known}: \
         use the newer threadfs that wrote it; nothing was changed"
    )]
    NewerFormat {
        /// The store's.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// The store was written by a threadfs from before its format was settled.
    #[error(
        "the store has format {found}, which only the early threadfs that wrote it can read: mount it with \
         that one, copy the files to a new store, and use this one from then on; nothing was changed"
    )]
    OlderFormat {
        /// The store's.
        found: u64,
    },
    /// A record is not what the layout says.
    #[error(
        "the store is damaged: {detail}. Run `threadfs fsck` on it, and restore it from a backup \
         if that names more"
    )]
    Corrupt {
        /// Which record, and how.
        detail: String,
    },
    /// A number ran out.
    #[error("the store has no more {0}")]
    Exhausted(&'static str),
    /// A thread was deleted meanwhile.
    #[error("the thread was deleted")]
    Deleted,
}

impl Error {
    /// A record that is not what the layout says.
    pub fn corrupt(detail: impl Into<String>) -> Error {
        Error::Corrupt { detail: detail.into() }
    }
}
