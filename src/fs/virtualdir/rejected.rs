//! The list of rejected drafts, and what each tells of itself.

use serde::Serialize;

use super::{FIRST_DRAFT, rfc3339};
use crate::fs::error::{Result, refuse};
use crate::fs::{Fs, Node};

#[derive(Serialize)]
struct Listed<'a> {
    id: u64,
    path: String,
    time: String,
    pid: u32,
    command: &'a str,
    reason: &'a str,
    bytes: u64,
    count: u64,
}

impl Fs {
    /// The content of `rejected/index.json`.
    pub(super) fn rejected_index(&self) -> Vec<u8> {
        let drafts = self.documents.rejected.lock();
        let listed: Vec<Listed<'_>> = drafts
            .iter()
            .map(|(id, draft)| Listed {
                id: *id,
                path: String::from_utf8_lossy(&draft.path).into_owned(),
                time: rfc3339(draft.time),
                pid: draft.pid,
                command: &draft.command,
                reason: &draft.reason,
                bytes: draft.size,
                count: draft.count,
            })
            .collect();
        let mut text = serde_json::to_vec_pretty(&listed).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Attributes of a rejected draft: `user.threadfs.path`, `.reason`, `.time`, `.pid`, `.command`.
    pub(in crate::fs) fn getxattr_virtual(&self, file: Node, name: &[u8]) -> Result<Vec<u8>> {
        if file.is_view() {
            return self.getxattr_view(file, name);
        }
        let drafts = self.documents.rejected.lock();
        let draft = file.local.0.checked_sub(FIRST_DRAFT).and_then(|id| drafts.get(&id));
        match (draft, name.strip_prefix(b"user.threadfs.")) {
            (Some(draft), Some(b"path")) => Ok(draft.path.clone()),
            (Some(draft), Some(b"reason")) => Ok(draft.reason.clone().into_bytes()),
            (Some(draft), Some(b"time")) => Ok(rfc3339(draft.time).into_bytes()),
            (Some(draft), Some(b"pid")) => Ok(draft.pid.to_string().into_bytes()),
            (Some(draft), Some(b"command")) => Ok(draft.command.clone().into_bytes()),
            _ => refuse(libc::ENODATA),
        }
    }
}
