//! What the kernel must hear of: changes that did not come from it.
//!
//! A document that appears with its first commit needs no word, nor does a thread that branches off:
//! the kernel keeps neither the absence of such names nor the listings that they are in. A restore
//! changes names that it does keep.

use super::node::Node;

/// Tells the kernel to forget what it caches. Called with no lock held.
pub trait Invalidate: Send + Sync {
    /// The attributes of an inode; takes no lock in the kernel, so it may be sent at once.
    fn attributes(&self, node: Node);

    /// The attributes and the listing of a directory; takes no lock that a request holds.
    fn listing(&self, dir: Node);

    /// What a name stands for, or that it stands for nothing. Takes the directory's lock in the
    /// kernel: not to be sent from a thread that serves requests, nor while one is held back.
    fn name(&self, dir: Node, name: &[u8]);
}
