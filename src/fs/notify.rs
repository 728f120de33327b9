//! What the kernel must hear of: changes that did not come from it.
//!
//! Only attributes can become untrue that way. A document that appears with its first commit
//! needs no word: the kernel keeps neither the absence of a document's name nor the listing of a
//! directory that has documents.

use super::node::Node;

/// Tells the kernel to forget what it caches. Called with no lock held.
pub trait Invalidate: Send + Sync {
    /// The attributes of an inode; takes no lock in the kernel, so it may be sent at once.
    fn attributes(&self, node: Node);
}
