//! One path on both sides.

use std::collections::BTreeMap;

use super::{Aspect, Change, Id, Side, Walk};
use crate::store::record::{Inode, Kind};
use crate::store::{Content, Reader, Records, Result};

/// Bytes that are compared at once.
const WINDOW: u64 = 256 << 10;

fn side(inode: &Inode) -> Side {
    Side { kind: inode.kind, size: if inode.is_dir() { 0 } else { inode.size } }
}

impl Walk<'_> {
    /// What is different at a path; None for nothing.
    pub(super) fn change(
        &self,
        path: &[u8],
        before: Option<Id>,
        after: Option<Id>,
        renamed_from: Option<Vec<u8>>,
    ) -> Result<Option<Change>> {
        let load = |reader: &Reader<'_>, id: Option<Id>| match id {
            Some((realm, ino)) => reader.inode(realm, ino),
            None => Ok(None),
        };
        let (old, new) = (load(&self.before, before)?, load(&self.after, after)?);
        let mut aspects = Vec::new();
        match (&old, &new, before, after) {
            (Some(old), Some(new), Some(old_id), Some(new_id)) => {
                aspects = self.aspects((old_id, old), (new_id, new), renamed_from.is_some())?;
                if aspects.is_empty() && renamed_from.is_none() {
                    return Ok(None);
                }
            }
            (None, None, ..) => return Ok(None),
            _ => {}
        }
        Ok(Some(Change {
            path: path.to_vec(),
            renamed_from,
            before: old.as_ref().map(side),
            after: new.as_ref().map(side),
            aspects,
        }))
    }

    fn aspects(&self, old: (Id, &Inode), new: (Id, &Inode), renamed: bool) -> Result<Vec<Aspect>> {
        let ((old_id, a), (new_id, b)) = (old, new);
        if a.kind != b.kind {
            return Ok(vec![Aspect::Kind]);
        }
        let mut found = Vec::new();
        let mut note = |aspect, differs: bool| {
            if differs {
                found.push(aspect);
            }
        };
        note(Aspect::Content, a.kind == Kind::File && self.content_differs(old, new)?);
        note(Aspect::Target, a.target != b.target);
        note(Aspect::Device, a.rdev != b.rdev);
        note(Aspect::Mode, a.perm != b.perm);
        note(Aspect::Owner, (a.uid, a.gid) != (b.uid, b.gid));
        let xattrs = a.xattrs > 0 || b.xattrs > 0;
        note(Aspect::Xattrs, xattrs && xattrs_of(&self.before, old_id)? != xattrs_of(&self.after, new_id)?);
        if found.is_empty() && self.times_differ(old, new, renamed) {
            found.push(Aspect::Times);
        }
        Ok(found)
    }

    /// Whether times differ without a reason that shows elsewhere: entries that came or went, another
    /// name, another inode.
    fn times_differ(&self, (old_id, a): (Id, &Inode), (new_id, b): (Id, &Inode), renamed: bool) -> bool {
        if a.is_dir() && (old_id != new_id || self.touched.names.contains_key(&old_id)) {
            return false;
        }
        let only_here = old_id == new_id && a.nlink == b.nlink && !renamed;
        a.mtime != b.mtime || (only_here && a.ctime != b.ctime)
    }

    fn content_differs(&self, (old_id, a): (Id, &Inode), (new_id, b): (Id, &Inode)) -> Result<bool> {
        if a.size != b.size {
            return Ok(true);
        }
        let old = Content::of(old_id.0, old_id.1, a);
        let new = Content::of(new_id.0, new_id.1, b);
        if old != new {
            return self.bytes_differ(&old, &new, a.size);
        }
        for index in self.touched.chunks.get(&new_id).into_iter().flatten() {
            let start = new.start_of(*index);
            let length = new.chunk_bytes.min(a.size.saturating_sub(start));
            if self.window_differs(&old, &new, start, length)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Compares two contents of one length, and passes over what is a hole in both.
    fn bytes_differ(&self, old: &Content, new: &Content, size: u64) -> Result<bool> {
        let mut offset = 0;
        while offset < size {
            let next = |reader: &Reader<'_>, content: &Content| -> Result<u64> {
                Ok(reader.data_at(content, offset, size.min(offset + WINDOW))?.map_or(u64::MAX, |run| run.start))
            };
            if next(&self.before, old)? == u64::MAX && next(&self.after, new)? == u64::MAX {
                // A hole of a window on both sides: perhaps a long one.
                let far = |reader: &Reader<'_>, content: &Content| -> Result<u64> {
                    Ok(reader.data_at(content, offset, size)?.map_or(size, |run| run.start))
                };
                offset = far(&self.before, old)?.min(far(&self.after, new)?);
                continue;
            }
            let length = WINDOW.min(size - offset);
            if self.window_differs(old, new, offset, length)? {
                return Ok(true);
            }
            offset += length;
        }
        Ok(false)
    }

    fn window_differs(&self, old: &Content, new: &Content, offset: u64, length: u64) -> Result<bool> {
        let (mut a, mut b) = (vec![0; length as usize], vec![0; length as usize]);
        self.before.read_content(old, offset, &mut a)?;
        self.after.read_content(new, offset, &mut b)?;
        Ok(a != b)
    }
}

fn xattrs_of(reader: &Reader<'_>, (realm, ino): Id) -> Result<BTreeMap<Vec<u8>, Option<Vec<u8>>>> {
    let names = reader.xattr_names(realm, ino)?;
    names.into_iter().map(|name| Ok((name.clone(), reader.xattr(realm, ino, &name)?))).collect()
}
