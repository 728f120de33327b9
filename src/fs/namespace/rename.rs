//! RENAME, with NOREPLACE, EXCHANGE and WHITEOUT.

use super::create::New;
use super::transition::Transition;
use super::{RECORD_BYTES, dir_changed};
use crate::fs::acl::Inherited;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::names;
use crate::fs::rules::DirRules;
use crate::fs::{Fs, Node};
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};
use crate::store::{HOME, Records, Txn};

/// What becomes of a name that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameMode {
    /// It is replaced.
    Replace,
    /// It stays, and the rename is refused: RENAME_NOREPLACE.
    NoReplace,
    /// Both change places: RENAME_EXCHANGE.
    Exchange,
    /// It is replaced, or the rename is refused; and at the old place stays a whiteout: RENAME_WHITEOUT.
    Whiteout {
        /// Whether it is replaced.
        replaces: bool,
    },
}

/// One side of a rename.
#[derive(Clone, Copy)]
struct Side<'a> {
    dir: Node,
    name: &'a [u8],
}

impl Fs {
    /// Renames.
    ///
    /// # Errors
    /// ENOENT; EEXIST for NOREPLACE; EXDEV between threads, into or out of one, and where a
    /// directory would become or cease to be a thread; EISDIR, ENOTDIR, ENOTEMPTY as rename(2);
    /// EINVAL for a directory into itself; EBADMSG for invalid content onto a document's name;
    /// EPERM for a file with several names onto one, and for the filesystem's own names.
    pub fn rename(&self, caller: Caller, from: (Node, &[u8]), to: (Node, &[u8]), mode: RenameMode) -> Result<()> {
        let (from, to) = (Side { dir: from.0, name: from.1 }, Side { dir: to.0, name: to.1 });
        if from.dir.is_virtual() || to.dir.is_virtual() {
            return refuse(libc::EROFS);
        }
        names::check_new(from.dir, from.name)?;
        names::check_new(to.dir, to.name)?;
        if from.dir.realm != to.dir.realm {
            return refuse(libc::EXDEV);
        }
        // The threads that take part must be locked too, and content that becomes a document is
        // checked without a lock. Both are looked at again inside the transaction.
        loop {
            let reader = self.store.reader();
            let Some(source) = self.dirent(&reader, from.dir, from.name)? else { return refuse(libc::ENOENT) };
            let victim = self.dirent(&reader, to.dir, to.name)?;
            let generation = self.rules.generation();
            let rules = (self.rules_of(from.dir)?, self.rules_of(to.dir)?);
            self.check_threads(&source, to, &rules.1)?;
            let mut moves = vec![self.prepare_move(from, &source, to, (&rules.0, &rules.1))?];
            match (&victim, mode) {
                (Some(_), RenameMode::NoReplace | RenameMode::Whiteout { replaces: false }) => {
                    return refuse(libc::EEXIST);
                }
                (None, RenameMode::Exchange) => return refuse(libc::ENOENT),
                (Some(other), RenameMode::Exchange) => {
                    self.check_threads(other, from, &rules.0)?;
                    moves.push(self.prepare_move(to, other, from, (&rules.1, &rules.0))?);
                }
                _ => {}
            }
            let mut realms = vec![from.dir.realm];
            realms.extend([Some(source), victim].iter().flatten().map(|dirent| dirent.inode_of(from.dir.realm).0));
            let mut txn = self.store.begin(&realms)?;
            let unchanged = self.dirent(&txn, from.dir, from.name)? == Some(source)
                && self.dirent(&txn, to.dir, to.name)? == victim;
            if !unchanged || !moves.iter().all(|moved| moved.still_holds(&txn)) {
                continue;
            }
            let Some(gone) = self.rename_in(&mut txn, caller, (from, source), to, victim, mode)? else { return Ok(()) };
            for moved in &moves {
                self.apply_transition(&mut txn, moved)?;
            }
            txn.grow(RECORD_BYTES);
            moves.iter().for_each(|moved| self.take_role(moved, generation));
            if let Err(error) = self.commit(txn) {
                moves.iter().for_each(|moved| self.give_role_back(moved, generation));
                return Err(error);
            }
            moves.iter().for_each(|moved| self.finish_transition(moved));
            if source.kind == Kind::Directory || victim.is_some_and(|dirent| dirent.kind == Kind::Directory) {
                self.rules.paths_changed();
                self.documents.forget_all();
            }
            if let Some(thread) = gone.filter(|node| node.is_thread_root()) {
                self.life_has_changed(thread.realm);
            }
            self.purge_unless_known(gone);
            return Ok(());
        }
    }

    /// A thread stays one and an ordinary directory stays one.
    fn check_threads(&self, moved: &Dirent, to: Side<'_>, rules: &DirRules) -> Result<()> {
        if moved.kind != Kind::Directory || to.dir.realm != HOME {
            return Ok(());
        }
        let was = matches!(moved.target, Target::Thread(_));
        if was == self.rules.is_thread(rules, to.name) { Ok(()) } else { refuse(libc::EXDEV) }
    }

    fn prepare_move(
        &self,
        from: Side<'_>,
        dirent: &Dirent,
        to: Side<'_>,
        rules: (&DirRules, &DirRules),
    ) -> Result<Transition> {
        let node = Node::from(dirent.inode_of(from.dir.realm));
        if dirent.kind != Kind::File {
            return Ok(Transition::none(node));
        }
        let roles = (self.rules.role(rules.0, from.name), self.rules.role(rules.1, to.name));
        self.prepare_transition(node, roles.0, roles.1)
    }

    /// Changes the records; None when both names are the same file already, and nothing changes.
    /// Else the inode that lost its last name, if one did.
    fn rename_in(
        &self,
        txn: &mut Txn<'_>,
        caller: Caller,
        (from, source): (Side<'_>, Dirent),
        to: Side<'_>,
        victim: Option<Dirent>,
        mode: RenameMode,
    ) -> Result<Option<Option<Node>>> {
        let now = Timestamp::now();
        let same_dir = from.dir == to.dir;
        let mut from_parent = self.dir_inode(txn, from.dir)?;
        let mut to_parent = if same_dir { from_parent.clone() } else { self.dir_inode(txn, to.dir)? };
        let source_is_dir = source.kind == Kind::Directory;
        let source_node = Node::from(source.inode_of(from.dir.realm));
        if source_is_dir && !same_dir {
            self.check_no_cycle(txn, source_node, to.dir)?;
        }
        let mut gone = None;
        if let Some(victim) = victim {
            let victim_node = Node::from(victim.inode_of(to.dir.realm));
            if victim_node == source_node {
                return Ok(None);
            }
            let victim_is_dir = victim.kind == Kind::Directory;
            if mode == RenameMode::Exchange {
                if victim_is_dir && !same_dir {
                    self.check_no_cycle(txn, victim_node, from.dir)?;
                }
                txn.delete_dirent(to.dir.realm, to.dir.local, to.name, &victim)?;
                txn.delete_dirent(from.dir.realm, from.dir.local, from.name, &source)?;
                txn.put_dirent(from.dir.realm, from.dir.local, from.name, &victim)?;
                self.moved(txn, victim_node, from.dir, now)?;
                if !same_dir && victim_is_dir != source_is_dir {
                    let step = if source_is_dir { 1 } else { -1 };
                    to_parent.nlink = to_parent.nlink.saturating_add_signed(step);
                    from_parent.nlink = from_parent.nlink.saturating_add_signed(-step);
                }
            } else {
                match (source_is_dir, victim_is_dir) {
                    (true, false) => return refuse(libc::ENOTDIR),
                    (false, true) => return refuse(libc::EISDIR),
                    _ => {}
                }
                gone = self.take_name(txn, caller, (to.dir, to.name), &mut to_parent, &victim, now)?;
                txn.delete_dirent(from.dir.realm, from.dir.local, from.name, &source)?;
            }
        } else {
            txn.delete_dirent(from.dir.realm, from.dir.local, from.name, &source)?;
        }
        txn.put_dirent(to.dir.realm, to.dir.local, to.name, &source)?;
        self.moved(txn, source_node, to.dir, now)?;
        let left = if mode == RenameMode::Exchange { 0 } else { 1 };
        if matches!(mode, RenameMode::Whiteout { .. }) {
            let parent = if same_dir { &mut to_parent } else { &mut from_parent };
            self.add_whiteout(txn, caller, from, parent)?;
        }
        if same_dir {
            // Both were copies of one inode: what was counted on the target's side holds.
            dir_changed(&mut to_parent, now, 0);
        } else {
            dir_changed(&mut from_parent, now, -left);
            dir_changed(&mut to_parent, now, left);
            if source_is_dir && mode != RenameMode::Exchange {
                from_parent.nlink = from_parent.nlink.saturating_sub(1);
                to_parent.nlink = to_parent.nlink.saturating_add(1);
            }
            txn.put_inode(from.dir.realm, from.dir.local, &from_parent)?;
        }
        txn.put_inode(to.dir.realm, to.dir.local, &to_parent)?;
        Ok(Some(gone))
    }

    /// A whiteout, as overlayfs has it in its upper directory: a device of the number 0:0 (the kernel's
    /// Documentation/filesystems/overlayfs.rst).
    fn add_whiteout(&self, txn: &mut Txn<'_>, caller: Caller, at: Side<'_>, parent: &mut Inode) -> Result<()> {
        let new = New { kind: Kind::CharDevice, perm: 0, rdev: 0, target: b"" };
        let inode = new.inode(caller, (at.dir, parent), &Inherited::default(), txn.epoch(at.dir.realm)?);
        let dirent = Dirent { target: Target::Inode(txn.add_inode(at.dir.realm, &inode)?), kind: new.kind };
        self.add_name(txn, at.dir, parent, at.name, &dirent, inode.ctime)
    }

    /// An inode has another name: its ctime, and of a directory the parent.
    fn moved(&self, txn: &mut Txn<'_>, node: Node, dir: Node, now: Timestamp) -> Result<()> {
        let mut inode: Inode = txn.named_inode(node.realm, node.local)?;
        inode.ctime = now;
        if inode.is_dir() {
            inode.parent = dir.local;
        }
        Ok(txn.put_inode(node.realm, node.local, &inode)?)
    }

    /// A directory must not come to lie below itself. The kernel checks that too; the core does
    /// not rely on it.
    fn check_no_cycle(&self, txn: &Txn<'_>, moved: Node, into: Node) -> Result<()> {
        let mut at = into;
        for _ in 0..names::MAX_DEPTH {
            if at == moved {
                return refuse(libc::EINVAL);
            }
            let inode = self.dir_inode(txn, at)?;
            if at == Node::ROOT || at.is_thread_root() {
                return Ok(());
            }
            at = at.sibling(inode.parent);
        }
        refuse(libc::ELOOP)
    }
}
