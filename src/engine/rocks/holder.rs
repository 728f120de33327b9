//! One process at a time: who has the store open.
//!
//! RocksDB has a lock of its own, but it can only say that it is taken. This one is a file with
//! an flock(2) on it, which goes with the process however it ends, and the holder's name in it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::convert::from_io;
use crate::engine::{Error, Result};

/// The file's name in the store's directory.
pub(super) const FILE: &str = "LOCK.json";

/// The lock; dropping it frees the store.
#[derive(Debug)]
pub(super) struct Holder {
    _file: File,
}

impl Holder {
    /// Takes the lock and writes the holder's name.
    pub(super) fn take(directory: &Path, holder: &str) -> Result<Self> {
        let path = directory.join(FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| from_io(&path, "open", &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::InUse { path: directory.to_path_buf(), holder: describe(&mut file) });
            }
            Err(TryLockError::Error(e)) => return Err(from_io(&path, "lock", &e)),
        }
        let text = serde_json::json!({ "pid": std::process::id(), "holder": holder }).to_string();
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(text.as_bytes()))
            .map_err(|e| from_io(&path, "write", &e))?;
        Ok(Holder { _file: file })
    }
}

fn describe(file: &mut File) -> String {
    let mut text = String::new();
    let record = match file.read_to_string(&mut text) {
        Ok(_) => serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default(),
        Err(_) => serde_json::Value::Null,
    };
    let pid = record.get("pid").and_then(serde_json::Value::as_u64);
    let holder = record.get("holder").and_then(serde_json::Value::as_str);
    match (pid, holder) {
        (Some(pid), Some(holder)) => format!("process {pid} ({holder})"),
        (Some(pid), None) => format!("process {pid}"),
        _ => String::from("another process"),
    }
}
