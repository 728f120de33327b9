//! What a file that is run gives to whoever runs it, and loses when it is changed: the set-user-ID and
//! set-group-ID bits, and its capabilities.

use crate::fs::attr::Caller;
use crate::fs::attributes::Attributes;
use crate::fs::error::Result;
use crate::fs::{Fs, Node};
use crate::store::Txn;
use crate::store::record::{Inode, Kind};

const SETUID: u16 = libc::S_ISUID as u16;
pub(in crate::fs) const SETGID: u16 = libc::S_ISGID as u16;
const GROUP_EXEC: u16 = libc::S_IXGRP as u16;

/// The attribute that holds file capabilities, capabilities(7).
pub(in crate::fs) const CAPABILITY: &[u8] = b"security.capability";

/// What a change of the content makes of the set-user-ID and set-group-ID bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::fs) enum SetId {
    /// They stay.
    #[default]
    Stays,
    /// They go; a caller did that who may not keep them.
    Goes(Caller),
    /// They go unless this caller may keep them. It is asked only if there are such bits.
    GoesUnless(Caller),
}

impl SetId {
    /// What both together make of them.
    pub(in crate::fs) fn and(self, other: SetId) -> SetId {
        match (self, other) {
            (SetId::Goes(_), _) | (_, SetId::Stays) => self,
            (SetId::GoesUnless(one), SetId::GoesUnless(another)) if one != another && !one.keeps_setid() => {
                SetId::Goes(one)
            }
            _ => other,
        }
    }

    pub(in crate::fs) fn apply(self, inode: &mut Inode) {
        if inode.perm & (SETUID | SETGID) == 0 {
            return;
        }
        match self {
            SetId::Stays => {}
            SetId::GoesUnless(caller) if caller.keeps_setid() => {}
            SetId::Goes(caller) | SetId::GoesUnless(caller) => drop_suidgid(inode, caller),
        }
    }
}

impl Fs {
    /// Tells the kernel that a change of the content changed the mode as well: it takes only size and times
    /// to be new. Asked for when the change is committed.
    pub(in crate::fs) fn tell_of_mode(&self, node: Node, before: u16, inode: &Inode) {
        if inode.perm != before {
            self.tell(|kernel| kernel.attributes(node));
        }
    }

    pub(in crate::fs) fn drop_capability(
        &self,
        txn: &mut Txn<'_>,
        node: Node,
        inode: &mut Inode,
        attributes: &mut Attributes,
    ) -> Result<()> {
        if inode.xattrs > 0 && attributes.get(txn, node, CAPABILITY)?.is_some() {
            attributes.put(txn, node, CAPABILITY, None)?;
            inode.xattrs -= 1;
        }
        Ok(())
    }
}

/// Takes the bits away that would give its privileges to whoever runs the file, after it was changed or given
/// away by a caller.
pub(in crate::fs) fn drop_suidgid(inode: &mut Inode, by: Caller) {
    if inode.kind != Kind::File {
        return;
    }
    inode.perm &= !SETUID;
    // Without the group's execute bit, set-group-ID used to mean mandatory locking, and stays for who may set it
    // (setattr_should_drop_sgid in the kernel's fs/attr.c).
    if inode.perm & SETGID != 0 && (inode.perm & GROUP_EXEC != 0 || !by.may_give_setgid(inode.gid)) {
        inode.perm &= !SETGID;
    }
}
