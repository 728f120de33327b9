//! RENAME: rename(2) and renameat2(2), threads, and what becomes or ceases to be a document.

use threadfs::fs::RenameMode;
use threadfs::store::record::Kind;

use super::tree::{Id, Role, Tree, is_document};
use super::world::{World, short};
use crate::support::{DOCUMENT_MAX, ROOT_USER};

/// A directory and a name in it.
type Side<'a> = (Id, &'a [u8]);

impl World {
    pub fn rename(&mut self, from: Side<'_>, to: Side<'_>, mode: u8) {
        self.say(|w| format!("rename {}{} {}{} mode {mode}", w.show(from.0), short(from.1), w.show(to.0), short(to.1)));
        let mode = match mode {
            0 => RenameMode::Replace,
            1 => RenameMode::NoReplace,
            2 => RenameMode::Exchange,
            _ => RenameMode::Whiteout { replaces: mode == 3 },
        };
        let keeps = matches!(mode, RenameMode::NoReplace | RenameMode::Whiteout { replaces: false });
        let exchange = mode == RenameMode::Exchange;
        let source = self.tree.child(from.0, from.1);
        let victim = self.tree.child(to.0, to.1);
        for id in [source, victim].into_iter().flatten() {
            self.know(id);
        }
        let mut wrong = Vec::new();
        if from.1.len() > 255 || to.1.len() > 255 {
            wrong.push(libc::ENAMETOOLONG);
        }
        if self.tree.get(from.0).thread != self.tree.get(to.0).thread {
            wrong.push(libc::EXDEV);
        }
        if source.is_none() || !self.tree.is_named(to.0) || (exchange && victim.is_none()) {
            wrong.push(libc::ENOENT);
        }
        if victim.is_some() && keeps {
            wrong.push(libc::EEXIST);
        }
        if let Some(source) = source {
            self.wrong_move(source, from, to, &mut wrong);
            if let Some(victim) = victim.filter(|_| exchange) {
                self.wrong_move(victim, to, from, &mut wrong);
            }
            if let Some(victim) = victim.filter(|victim| !exchange && *victim != source) {
                match (self.tree.get(source).is_dir(), self.tree.get(victim).is_dir()) {
                    (true, false) => wrong.push(libc::ENOTDIR),
                    (false, true) => wrong.push(libc::EISDIR),
                    _ if !self.tree.get(victim).entries.is_empty() => wrong.push(libc::ENOTEMPTY),
                    _ => {}
                }
            }
        }
        // POSIX: two names of one file stay as they are.
        let same = source.is_some() && source == victim;
        let after = (wrong.is_empty() && !same).then(|| self.renamed(from, to, exchange));
        if after.as_ref().is_some_and(|after| self.is_ambiguous(source.unwrap(), victim.filter(|_| exchange), after)) {
            return;
        }
        let real = self.fs().rename(ROOT_USER, (self.node(from.0), from.1), (self.node(to.0), to.1), mode);
        if same && real.is_ok() && !keeps {
            return;
        }
        if self.outcome(&wrong, real).is_none() {
            return;
        }
        self.tree = after.unwrap();
        let source = source.unwrap();
        for (id, was, is) in [(Some(source), from, to), (victim.filter(|_| exchange), to, from)] {
            let Some(id) = id else { continue };
            self.status_changed(id);
            self.take_role(id, was, is);
        }
        for (dir, name) in [from, to] {
            self.changed(dir);
            self.listed_change(dir, name);
        }
        if let Some(victim) = victim.filter(|_| !exchange) {
            self.lost_name(victim);
        }
        if matches!(mode, RenameMode::Whiteout { .. }) {
            self.whiteout_is_at(from);
        }
    }

    /// What is wrong with giving an inode a name instead of another.
    fn wrong_move(&self, id: Id, from: Side<'_>, to: Side<'_>, wrong: &mut Vec<i32>) {
        let inode = self.tree.get(id);
        if inode.is_dir() {
            if self.tree.is_within(to.0, id) {
                wrong.push(libc::EINVAL);
            }
            let is_thread = inode.thread == Some(id);
            if self.tree.get(to.0).thread.is_none() && is_thread != self.tree.makes_threads(to.0) {
                wrong.push(libc::EXDEV);
            }
        }
        let becomes = self.tree.role(to.0, to.1) == Role::Document && self.tree.role(from.0, from.1) != Role::Document;
        if inode.kind == Kind::File && becomes {
            if self.tree.nlink(id) > 1 {
                wrong.push(libc::EPERM);
            }
            if inode.data.len() as u64 > DOCUMENT_MAX {
                wrong.push(libc::EFBIG);
            } else if !is_document(&inode.data) && self.finished(id).is_none() {
                wrong.push(libc::EBADMSG);
            }
        }
    }

    /// What the writer wrote that closed last, where several wrote one file, if it is a document.
    fn finished(&self, id: Id) -> Option<Vec<u8>> {
        self.tree.get(id).open.as_ref()?.finished.clone().filter(|text| is_document(text))
    }

    /// The tree with the names moved.
    fn renamed(&self, from: Side<'_>, to: Side<'_>, exchange: bool) -> Tree {
        let mut tree = self.tree.clone();
        let source = tree.get_mut(from.0).entries.remove(from.1).unwrap();
        let victim = tree.get_mut(to.0).entries.insert(to.1.to_vec(), source);
        tree.get_mut(source).parent = to.0;
        if let Some(victim) = victim.filter(|_| exchange) {
            tree.get_mut(from.0).entries.insert(from.1.to_vec(), victim);
            tree.get_mut(victim).parent = from.0;
        }
        tree
    }

    /// Whether what a file is would depend on when it was opened, or by which of its names it is
    /// known. Such cases are left out.
    fn is_ambiguous(&self, source: Id, victim: Option<Id>, after: &Tree) -> bool {
        let moved: Vec<Id> = [Some(source), victim].into_iter().flatten().collect();
        let several = moved.iter().any(|id| {
            let inode = self.tree.get(*id);
            let by_name =
                |tree: &Tree| tree.names(*id).iter().map(|(dir, name)| tree.role(*dir, name)).collect::<Vec<_>>();
            inode.kind == Kind::File
                && self.tree.names(*id).len() > 1
                && by_name(after).iter().any(|role| *role != by_name(&self.tree)[0])
        });
        let below: Vec<Id> = moved.iter().flat_map(|id| self.tree.below(*id)).collect();
        let changes = |id: &Id| {
            let by_name = |tree: &Tree| tree.names(*id).first().map(|(dir, name)| tree.role(*dir, name));
            by_name(&self.tree) != by_name(after)
        };
        let changing: Vec<Id> =
            below.iter().copied().filter(|id| self.tree.get(*id).kind == Kind::File && changes(id)).collect();
        let busy = changing.iter().any(|id| self.tree.get(*id).open.is_some() || self.tree.names(*id).len() > 1);
        let waited_for = self.tree.inodes.values().any(|inode| {
            inode.pending.as_ref().is_some_and(|(dir, name)| self.tree.role(*dir, name) != after.role(*dir, name))
        });
        several || busy || waited_for
    }

    /// An open file that is renamed becomes what its new name says.
    fn take_role(&mut self, id: Id, from: Side<'_>, to: Side<'_>) {
        let role = self.tree.role(to.0, to.1);
        // As they are now: the tree has the new names, but what a name means has not changed.
        let was = self.tree.role(from.0, from.1);
        let mixture = was != Role::Document && role == Role::Document && !is_document(&self.tree.get(id).data);
        if let Some(finished) = self.finished(id).filter(|_| mixture) {
            self.tree.get_mut(id).data = finished;
            self.touched.insert(id);
        }
        if let Some(open) = &mut self.tree.get_mut(id).open {
            open.role = role;
        }
        if (was == Role::Document) != (role == Role::Document) {
            self.handles.iter_mut().filter(|handle| handle.id == id).for_each(|handle| handle.pin = None);
        }
    }
}
