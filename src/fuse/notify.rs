//! Telling the kernel.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fuser::{INodeNo, Notifier};

use crate::fs::{Invalidate, Node};

/// Sends notifications over the session's channel.
pub(super) struct KernelNotifier {
    notifier: Notifier,
}

impl KernelNotifier {
    pub(super) fn new(notifier: Notifier) -> Self {
        KernelNotifier { notifier }
    }
}

/// Offsets of an invalidation: a negative one means the attributes only.
const ATTRIBUTES: i64 = -1;
const EVERYTHING: i64 = 0;

impl KernelNotifier {
    fn inode(&self, node: Node, offset: i64) {
        if let Err(error) = self.notifier.inval_inode(INodeNo(node.ino()), offset, 0) {
            log::warn!("inode {}: the kernel did not take an invalidation: {error}", node.ino());
        }
    }
}

impl Invalidate for KernelNotifier {
    fn attributes(&self, node: Node) {
        // No page is touched, so no page lock of a waiting writer can stand in the way, and it may
        // be sent from within a request.
        self.inode(node, ATTRIBUTES);
    }

    fn listing(&self, dir: Node) {
        // The kernel keeps a listing in pages of the directory.
        self.inode(dir, EVERYTHING);
    }

    fn name(&self, dir: Node, name: &[u8]) {
        if let Err(error) = self.notifier.inval_entry(INodeNo(dir.ino()), OsStr::from_bytes(name)) {
            // It can be busy as a mountpoint in another namespace: what the name stands for is asked
            // again all the same.
            log::debug!("inode {}: the kernel did not forget a name in it: {error}", dir.ino());
        }
    }
}
