//! LINK.

use super::{Entry, LINK_MAX, RECORD_BYTES};
use crate::fs::error::{Result, refuse};
use crate::fs::names;
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::Records;
use crate::store::record::{Dirent, Kind, Target, Timestamp};

impl Fs {
    /// Gives a file one more name.
    ///
    /// # Errors
    /// EPERM for a directory and from or to the name of a document; EXDEV into another thread;
    /// EMLINK over 65,000 names; EEXIST; ENOENT for a file that lost its last name.
    pub fn link(&self, node: Node, dir: Node, name: &[u8]) -> Result<Entry> {
        if node.is_virtual() || dir.is_virtual() {
            return refuse(libc::EROFS);
        }
        names::check_new(dir, name)?;
        if node.realm != dir.realm {
            return refuse(libc::EXDEV);
        }
        let generation = self.rules.generation();
        let mut txn = self.store.begin(&[dir.realm])?;
        let Some(mut inode) = txn.inode(node.realm, node.local)? else { return refuse(libc::ENOENT) };
        let mut role = Role::Ordinary;
        match inode.kind {
            Kind::Directory => return refuse(libc::EPERM),
            Kind::File => {
                role = self.rules.role(&*self.rules_of(dir)?, name);
                if role == Role::Document || self.role_of(node)? == Role::Document {
                    return refuse(libc::EPERM);
                }
            }
            _ => {}
        }
        let mut parent = self.dir_inode(&txn, dir)?;
        if self.dirent(&txn, dir, name)?.is_some() {
            return refuse(libc::EEXIST);
        }
        if inode.nlink >= LINK_MAX {
            return refuse(libc::EMLINK);
        }
        let now = Timestamp::now();
        inode.nlink += 1;
        inode.ctime = now;
        txn.put_inode(node.realm, node.local, &inode)?;
        let dirent = Dirent { target: Target::Inode(node.local), kind: inode.kind };
        self.add_name(&mut txn, dir, &mut parent, name, &dirent, now)?;
        txn.grow(RECORD_BYTES);
        self.commit(txn)?;
        let attr = self.attr(&self.store.reader(), node, &inode)?;
        Ok(self.entry(node, attr, role, generation))
    }
}
