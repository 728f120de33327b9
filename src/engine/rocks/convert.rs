//! Errors and numbers of RocksDB and the operating system in the engine's terms.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rocksdb::ErrorKind;

use crate::engine::{Error, Result, Space};

/// What RocksDB says, sorted by what a caller can do about it. Its C interface gives only text.
pub(super) fn from_rocks(error: &rocksdb::Error) -> Error {
    let detail = error.to_string();
    let lower = detail.to_lowercase();
    // The log refuses to go on after a failed append; opening the database anew mends that, too.
    let log_is_stuck = lower.contains("writer has previous error");
    if log_is_stuck
        || lower.contains("no space left")
        || lower.contains("disk quota exceeded")
        || lower.contains("space limit")
    {
        return Error::NoSpace { detail };
    }
    match error.kind() {
        ErrorKind::Corruption => Error::Corrupt { detail },
        ErrorKind::InvalidArgument if lower.contains("does not exist") => Error::Corrupt { detail },
        // Of its own files: the directory was there when it was opened.
        ErrorKind::IOError if lower.contains("no such file") => Error::Corrupt { detail },
        _ => Error::Io { detail },
    }
}

/// An error of a system call on the store's directory.
pub(super) fn from_io(path: &Path, action: &str, error: &io::Error) -> Error {
    let detail = format!("cannot {action} {}: {error}", path.display());
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM | libc::EROFS) => Error::Permission { path: path.to_path_buf(), detail },
        Some(libc::ENOSPC | libc::EDQUOT) => Error::NoSpace { detail },
        _ => Error::Io { detail },
    }
}

/// Room on the disk that a directory is on, from statvfs(3).
pub(super) fn medium(directory: &Path) -> Result<Space> {
    let path = CString::new(directory.as_os_str().as_bytes())
        .map_err(|_| Error::Io { detail: "the store's path has a NUL byte".into() })?;
    let mut stat = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path is NUL-terminated and the buffer is of the type that the call fills.
    if unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) } != 0 {
        return Err(from_io(directory, "ask for the free space of", &io::Error::last_os_error()));
    }
    // SAFETY: the call returned 0, so it filled the buffer.
    let stat = unsafe { stat.assume_init() };
    Ok(Space {
        total: stat.f_blocks * stat.f_frsize,
        available: stat.f_bavail * stat.f_frsize,
        free: stat.f_bfree * stat.f_frsize,
        used: 0,
        reserve: 0,
    })
}

/// How long the files of a directory are together. Not their blocks: the log's are set aside
/// before it is written.
pub(super) fn file_bytes(directory: &Path) -> Result<u64> {
    let failed = |e: io::Error| from_io(directory, "list the directory", &e);
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        // A file may go between the listing and the look at it.
        if let Ok(metadata) = entry.map_err(failed)?.metadata() {
            bytes += metadata.len();
        }
    }
    Ok(bytes)
}

/// The bytes of values in RocksDB's description of its tables: `...; raw value size=123; ...`.
pub(super) fn raw_value_bytes(properties: &str) -> u64 {
    let size = properties.split(';').find_map(|part| part.trim().strip_prefix("raw value size="));
    size.and_then(|size| size.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_values() {
        assert_eq!(
            raw_value_bytes("# entries=2; raw key size=64; raw value size=1234; raw average value size=617"),
            1234
        );
        assert_eq!(raw_value_bytes(""), 0);
    }
}
