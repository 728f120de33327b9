//! The operations on `.threadfs`.

use std::time::Duration;

use super::{FIRST_DRAFT, FIRST_FILE, INDEX, LOCKS, REJECTED, ROOT, VIRTUAL};
use crate::fs::attr::Attr;
use crate::fs::error::{Result, refuse};
use crate::fs::file::Opened;
use crate::fs::namespace::{Entry, ListEntry};
use crate::fs::snapshot::View;
use crate::fs::{Fs, Node, names};
use crate::store::Local;
use crate::store::record::{Kind, Timestamp};

fn node(local: u64) -> Node {
    Node { realm: VIRTUAL, local: Local(local) }
}

impl Fs {
    /// The names in a virtual directory.
    fn virtual_names(&self, dir: Node) -> Vec<(Node, Kind, String)> {
        if dir == ROOT {
            let files = self.virtual_files.names();
            let registered = files.into_iter().zip(FIRST_FILE..).map(|(name, at)| (node(at), Kind::File, name));
            let own = [(LOCKS, Kind::File, "locks.json".into()), (REJECTED, Kind::Directory, "rejected".into())];
            registered.chain(own).collect()
        } else if dir == REJECTED {
            let drafts = self.documents.rejected.lock();
            let drafts = drafts.keys().map(|id| (node(FIRST_DRAFT + id), Kind::File, id.to_string()));
            drafts.chain([(INDEX, Kind::File, "index.json".into())]).collect()
        } else {
            Vec::new()
        }
    }

    pub(in crate::fs) fn lookup_virtual(&self, dir: Node, name: &[u8]) -> Result<Entry> {
        if dir.is_view() {
            return self.lookup_view(dir, name);
        }
        if !dir.is_virtual() && name == names::SNAPSHOTS {
            return self.view_entry(self.views.root(View::Snapshots(dir.realm))?);
        }
        let found = if !dir.is_virtual() {
            (name == names::CONTROL && dir == Node::ROOT).then_some(ROOT)
        } else {
            match name {
                b"." => Some(dir),
                b".." => Some(if dir == ROOT { Node::ROOT } else { ROOT }),
                _ => self.virtual_names(dir).into_iter().find(|(.., n)| n.as_bytes() == name).map(|(node, ..)| node),
            }
        };
        let Some(found) = found else { return refuse(libc::ENOENT) };
        let (attr, ttl) = self.getattr(found)?;
        Ok(Entry { attr, attr_ttl: ttl, entry_ttl: ttl })
    }

    fn virtual_content(&self, file: Node) -> Result<Vec<u8>> {
        match file {
            LOCKS => Ok(self.describe_locks()),
            INDEX => Ok(self.rejected_index()),
            Node { local: Local(at), .. } if at >= FIRST_DRAFT => self.rejected_content(at - FIRST_DRAFT),
            Node { local: Local(at), .. } if at >= FIRST_FILE => {
                self.virtual_files.produce(at - FIRST_FILE).ok_or(crate::fs::Error::Errno(libc::ENOENT))
            }
            _ => refuse(libc::EISDIR),
        }
    }

    pub(in crate::fs) fn getattr_virtual(&self, file: Node) -> Result<(Attr, Duration)> {
        if file.is_view() {
            return self.getattr_view(file);
        }
        let now = Timestamp::now();
        // SAFETY: these calls have no preconditions and cannot fail.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        let mut attr = Attr {
            ino: file.ino(),
            kind: Kind::File,
            perm: 0o444,
            nlink: 1,
            uid,
            gid,
            rdev: 0,
            size: 0,
            blocks: 0,
            blksize: 4096,
            atime: now,
            mtime: now,
            ctime: now,
            btime: now,
        };
        match file {
            ROOT => (attr.kind, attr.perm, attr.nlink) = (Kind::Directory, 0o755, 3),
            // As in /tmp: everybody may delete what is theirs.
            REJECTED => (attr.kind, attr.perm, attr.nlink) = (Kind::Directory, 0o1777, 2),
            Node { local: Local(at), .. } if at >= FIRST_DRAFT => {
                let drafts = self.documents.rejected.lock();
                let Some(draft) = drafts.get(&(at - FIRST_DRAFT)) else { return refuse(libc::ENOENT) };
                (attr.uid, attr.gid, attr.perm) = draft.owner;
                attr.size = draft.size;
                (attr.mtime, attr.ctime, attr.atime) = (draft.time, draft.time, draft.time);
            }
            _ => attr.size = self.virtual_content(file)?.len() as u64,
        }
        attr.blocks = attr.size.div_ceil(512);
        Ok((attr, Duration::ZERO))
    }

    pub(in crate::fs) fn open_virtual(&self, file: Node, flags: i32) -> Result<Opened> {
        if file.is_view() {
            return self.open_view(file, flags);
        }
        if flags & libc::O_ACCMODE != libc::O_RDONLY {
            return refuse(libc::EROFS);
        }
        let fh = self.handles.open_virtual(file, self.virtual_content(file)?);
        Ok(Opened { fh, direct_io: true, flush: false })
    }

    pub(in crate::fs) fn readdir_virtual(&self, dir: Node, cookie: u64, limit: usize) -> Result<Vec<ListEntry>> {
        if dir.is_view() {
            return self.readdir_view(dir, cookie, limit);
        }
        if dir != ROOT && dir != REJECTED {
            return refuse(libc::ENOTDIR);
        }
        let parent = if dir == ROOT { Node::ROOT } else { ROOT };
        let dots = [(dir, Kind::Directory, ".".into()), (parent, Kind::Directory, "..".into())];
        let names = dots.into_iter().chain(self.virtual_names(dir));
        let listed = names.enumerate().map(|(at, (node, kind, name))| ListEntry {
            node,
            // A draft's place is its number, so that deleting while listing misses none.
            cookie: if node.local.0 >= FIRST_DRAFT { node.local.0 } else { at as u64 + 1 },
            kind,
            name: name.into_bytes(),
        });
        let mut listed: Vec<ListEntry> = listed.filter(|entry| entry.cookie > cookie).collect();
        listed.sort_by_key(|entry| entry.cookie);
        Ok(listed)
    }

    pub(in crate::fs) fn unlink_virtual(&self, dir: Node, name: &[u8]) -> Result<()> {
        if dir.is_view() {
            return refuse(libc::EROFS);
        }
        if dir != REJECTED {
            return refuse(libc::EPERM);
        }
        match std::str::from_utf8(name).ok().and_then(|name| name.parse().ok()) {
            Some(id) => self.delete_rejected(id),
            None if name == b"index.json" => refuse(libc::EPERM),
            None => refuse(libc::ENOENT),
        }
    }
}
