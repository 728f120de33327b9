//! Telling the kernel.

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

impl Invalidate for KernelNotifier {
    fn attributes(&self, node: Node) {
        // A negative offset means the attributes only: no page is touched, so no page lock of a
        // waiting writer can stand in the way, and it may be sent from within a request.
        if let Err(error) = self.notifier.inval_inode(INodeNo(node.ino()), -1, 0) {
            log::warn!("inode {}: the kernel did not take an invalidation: {error}", node.ino());
        }
    }
}
