//! What an operation can end with: an errno for the caller, and for the log what lies behind it.

use crate::{engine, store};

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was refused or failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What POSIX says of such a call: nothing is wrong with the filesystem.
    #[error("{}", std::io::Error::from_raw_os_error(*.0))]
    Errno(i32),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A pattern of the configuration cannot be read.
    #[error("the pattern {pattern:?} is wrong: {detail}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl Error {
    /// What the caller gets, as errno(3).
    pub fn errno(&self) -> i32 {
        match self {
            Error::Errno(errno) => *errno,
            Error::Store(store::Error::Engine(engine::Error::NoSpace { .. }) | store::Error::Exhausted(_)) => {
                libc::ENOSPC
            }
            Error::Store(store::Error::Deleted) => libc::ENOENT,
            Error::Store(_) => libc::EIO,
            Error::Pattern { .. } => libc::EINVAL,
        }
    }

    /// Whether it says that something is wrong with the store, and so belongs into the log.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Error::Errno(_) | Error::Store(store::Error::Deleted))
    }
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Error {
        Error::Store(error.into())
    }
}

/// An operation that is refused with an errno.
pub(crate) fn refuse<T>(errno: i32) -> Result<T> {
    Err(Error::Errno(errno))
}
