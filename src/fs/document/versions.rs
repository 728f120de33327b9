//! The committed versions of a document that are kept, and their limits.

use std::ops::ControlFlow;

use crate::engine::Keyspace;
use crate::fs::error::{Error, Result};
use crate::fs::{Fs, Node};
use crate::store::record::{Inode, Timestamp, VersionRecord};
use crate::store::{Txn, key};

/// What is known of a document's versions without reading them.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fs) struct Kept {
    count: u64,
    bytes: u64,
    /// No version below this one is left: looking for the oldest starts here, behind the traces of
    /// those that were dropped.
    oldest: u64,
    /// When the oldest was committed, in seconds since 1970.
    oldest_time: i64,
    /// The generation of the newest; None when there is none.
    newest: Option<u64>,
}

impl Fs {
    pub(super) fn kept_versions(&self, node: Node, inode: &Inode) -> Result<Kept> {
        if let Some(kept) = self.documents.kept.lock().get(&node) {
            return Ok(*kept);
        }
        let mut kept = Kept::default();
        for (version, record) in self.versions_of(node, inode)? {
            if kept.count == 0 {
                kept.oldest = version;
                kept.oldest_time = record.time.secs;
            }
            kept.count += 1;
            kept.bytes += record.size;
            kept.newest = Some(record.generation);
        }
        Ok(kept)
    }

    /// Records the content that a document has now as its newest version, and drops the oldest
    /// ones over the limits. `replaced` is the inode before the commit.
    pub(in crate::fs) fn add_version(
        &self,
        txn: &mut Txn<'_>,
        node: Node,
        replaced: Option<&Inode>,
        inode: &Inode,
        pid: u32,
    ) -> Result<Kept> {
        let mut kept = match replaced {
            Some(replaced) => self.kept_versions(node, replaced)?,
            None => Kept { oldest_time: Timestamp::now().secs, ..Kept::default() },
        };
        if let Some(replaced) = replaced {
            // Content from before it was a document is no version, so nothing else keeps it.
            if kept.newest != Some(replaced.generation) {
                txn.drop_generation(node.realm, node.local, replaced)?;
            }
        }
        let record = VersionRecord {
            generation: inode.generation,
            size: inode.size,
            time: Timestamp::now(),
            epoch: inode.generation_born,
            pid,
        };
        txn.put_plain(key::version(node.realm, inode.file_of(node.local), inode.version), record.encode());
        kept.count += 1;
        kept.bytes += inode.size;
        kept.newest = Some(inode.generation);
        let over = |kept: &Kept| {
            kept.count > self.options.versions_per_document.max(1)
                || kept.bytes > self.options.version_bytes_per_document
        };
        let cutoff = record.time.secs - self.options.version_age.as_secs() as i64;
        if over(&kept) || (kept.count > 1 && kept.oldest_time < cutoff) {
            self.drop_oldest(txn, node, inode, &mut kept, |kept, old| over(kept) || old.time.secs < cutoff)?;
        }
        Ok(kept)
    }

    /// Drops versions from the oldest on while `unwanted`, but never the newest.
    pub(super) fn drop_oldest(
        &self,
        txn: &mut Txn<'_>,
        node: Node,
        inode: &Inode,
        kept: &mut Kept,
        unwanted: impl Fn(&Kept, &VersionRecord) -> bool,
    ) -> Result<()> {
        let file = inode.file_of(node.local);
        let oldest = key::version(node.realm, file, kept.oldest);
        let newest = key::version(node.realm, file, inode.version);
        let mut dropped = Vec::new();
        let mut failure = None;
        self.store.engine().scan(Keyspace::Meta, &oldest, &newest, &mut |found, value| match VersionRecord::decode(
            value,
        ) {
            Ok(record) if unwanted(kept, &record) => {
                kept.count = kept.count.saturating_sub(1);
                kept.bytes = kept.bytes.saturating_sub(record.size);
                kept.oldest = key::parse_version(found).map_or(kept.oldest, |version| version + 1);
                dropped.push((found.to_vec(), record));
                ControlFlow::Continue(())
            }
            Ok(record) => {
                kept.oldest_time = record.time.secs;
                ControlFlow::Break(())
            }
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        if let Some(error) = failure {
            return Err(Error::from(error));
        }
        for (found, record) in dropped {
            let chunks = record.size.div_ceil(inode.chunk_bytes());
            txn.discard(node.realm, file, record.generation, record.epoch, chunks)?;
            txn.delete_plain(found);
        }
        Ok(())
    }

    /// The commit that added a version is done.
    pub(in crate::fs) fn version_was_added(&self, node: Node, kept: Kept) {
        self.documents.kept.lock().insert(node, kept);
    }
}
