//! FALLOCATE.

use super::{CUT, SetId};
use crate::fs::Fs;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::store::record::Kind;

const KEEP_SIZE: i32 = libc::FALLOC_FL_KEEP_SIZE;
const PUNCH_HOLE: i32 = libc::FALLOC_FL_PUNCH_HOLE;
const ZERO_RANGE: i32 = libc::FALLOC_FL_ZERO_RANGE;

impl Fs {
    /// Makes room, makes holes, or makes zeros in an open file, as fallocate(2).
    ///
    /// Making room only checks that there is some: chunks are written anew with every change, so
    /// none can be set aside.
    ///
    /// # Errors
    /// EOPNOTSUPP for the modes that shift content, and for a document; EFBIG; ENOSPC; EINVAL.
    pub fn fallocate(&self, caller: Caller, fh: u64, offset: u64, length: u64, mode: i32) -> Result<()> {
        let handle = self.handle(fh)?;
        if handle.is_virtual {
            return refuse(libc::EOPNOTSUPP);
        }
        if length == 0 {
            return refuse(libc::EINVAL);
        }
        let clears = match mode {
            0 | KEEP_SIZE => false,
            m if m == PUNCH_HOLE | KEEP_SIZE || m == ZERO_RANGE || m == ZERO_RANGE | KEEP_SIZE => true,
            _ => return refuse(libc::EOPNOTSUPP),
        };
        let Some(end) = offset.checked_add(length).filter(|end| *end <= self.options.max_file_bytes) else {
            return refuse(libc::EFBIG);
        };
        let mut from = offset;
        loop {
            let Some(mut txn) = self.begin_in_place(&handle)? else { return refuse(libc::EOPNOTSUPP) };
            let node = handle.node();
            let (mut inode, mut attributes) = self.load_in(&txn, node)?;
            if inode.kind != Kind::File {
                return refuse(libc::ENODEV);
            }
            let perm = inode.perm;
            let next = from.saturating_add(CUT);
            let is_last = !clears || inode.allocated <= CUT || next >= end.min(inode.size);
            if clears {
                let to = if is_last { end } else { next };
                txn.clear_content(node.realm, node.local, &mut inode, from..to)?;
            } else {
                txn.grow(end.saturating_sub(inode.allocated.max(offset)));
            }
            if is_last && mode & KEEP_SIZE == 0 && end > inode.size {
                txn.resize_content(node.realm, node.local, &mut inode, end)?;
            }
            // What the mode loses, it loses with the last step.
            let setid = if is_last { SetId::GoesUnless(caller) } else { SetId::Stays };
            self.content_changed(&mut txn, node, &mut inode, &mut attributes, setid)?;
            self.save_in(&mut txn, node, &inode, attributes)?;
            self.commit(txn)?;
            if is_last {
                self.tell_of_mode(node, perm, &inode);
                return Ok(());
            }
            from = next;
        }
    }
}
