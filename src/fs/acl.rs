//! POSIX access control lists, acl(5): what each means for the mode, and the mode for them.
//!
//! The kernel decides by them who may do what, and keeps them for as long as it keeps the attributes.
//! What is left to the filesystem is that a list and the mode say the same: the owner, the mask (or the
//! group, where there is none) and the others are the nine permission bits. A list that says no more than
//! those is stored as the mode alone. They are extended attributes of two names; the layout of the values
//! is that of the kernel's include/uapi/linux/posix_acl_xattr.h.

use super::error::{Result, refuse};
use super::file::SETGID;
use super::node::Node;
use crate::store::Records;
use crate::store::record::{Inode, Kind};

/// Who may do what with a file.
pub(super) const ACCESS: &[u8] = b"system.posix_acl_access";

/// What is made in a directory begins with this.
pub(super) const DEFAULT: &[u8] = b"system.posix_acl_default";

/// Whether an attribute is a list.
pub(super) fn is_list(name: &[u8]) -> bool {
    name == ACCESS || name == DEFAULT
}

const VERSION: u32 = 2;
const HEADER: usize = 4;
const ENTRY: usize = 8;

const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

/// In place of a user or a group, where there is none to name.
const NOBODY: u32 = u32::MAX;

const RWX: u16 = 0o7;
const ALL: u16 = 0o777;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    tag: u16,
    perm: u16,
    id: u32,
}

/// A list that is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Acl {
    entries: Vec<Entry>,
}

impl Acl {
    /// Reads a value; None for a list of nothing, which stands for no list.
    ///
    /// # Errors
    /// EOPNOTSUPP for another version of the layout; EINVAL for entries that are out of order, name
    /// nobody, or lack one that has to be there.
    fn decode(value: &[u8]) -> Result<Option<Acl>> {
        let Some((version, rest)) = value.split_first_chunk::<HEADER>() else { return refuse(libc::EINVAL) };
        if u32::from_le_bytes(*version) != VERSION {
            return refuse(libc::EOPNOTSUPP);
        }
        let (chunks, partial) = rest.as_chunks::<ENTRY>();
        if !partial.is_empty() {
            return refuse(libc::EINVAL);
        }
        if chunks.is_empty() {
            return Ok(None);
        }
        let read = |[t0, t1, p0, p1, id @ ..]: &[u8; ENTRY]| Entry {
            tag: u16::from_le_bytes([*t0, *t1]),
            perm: u16::from_le_bytes([*p0, *p1]),
            id: u32::from_le_bytes(*id),
        };
        let acl = Acl { entries: chunks.iter().map(read).collect() };
        if acl.is_valid() { Ok(Some(acl)) } else { refuse(libc::EINVAL) }
    }

    fn encode(&self) -> Vec<u8> {
        let mut value = VERSION.to_le_bytes().to_vec();
        for entry in &self.entries {
            value.extend(entry.tag.to_le_bytes());
            value.extend(entry.perm.to_le_bytes());
            value.extend(entry.id.to_le_bytes());
        }
        value
    }

    /// By the classes in their order: the owner, users, the group, groups, the mask, the others. Those that
    /// are not named once each, and a mask exactly where it is needed or wanted.
    fn is_valid(&self) -> bool {
        let count = |tag: u16| self.entries.iter().filter(|entry| entry.tag == tag).count();
        let is_named = |tag: u16| tag == USER || tag == GROUP;
        // The tags are single bits that ascend in the order of the classes.
        self.entries.is_sorted_by_key(|entry| entry.tag)
            && self.entries.iter().all(|entry| {
                [USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER].contains(&entry.tag)
                    && entry.perm & !RWX == 0
                    && (!is_named(entry.tag) || entry.id != NOBODY)
            })
            && [USER_OBJ, GROUP_OBJ, OTHER].iter().all(|tag| count(*tag) == 1)
            && count(MASK) <= 1
            && (count(MASK) == 1 || count(USER) + count(GROUP) == 0)
    }

    /// The entry of a class that is not named.
    fn perm(&self, tag: u16) -> Option<u16> {
        self.entries.iter().find(|entry| entry.tag == tag).map(|entry| entry.perm)
    }

    /// The nine permission bits that it stands for.
    fn mode(&self) -> u16 {
        let of = |tag: u16| self.perm(tag).unwrap_or_default();
        of(USER_OBJ) << 6 | self.perm(MASK).unwrap_or_else(|| of(GROUP_OBJ)) << 3 | of(OTHER)
    }

    /// Whether the mode says all that it says.
    fn is_plain(&self) -> bool {
        self.entries.len() == 3
    }

    /// Makes it stand for these permission bits.
    fn set_mode(&mut self, mode: u16) {
        let middle = if self.perm(MASK).is_some() { MASK } else { GROUP_OBJ };
        for entry in &mut self.entries {
            match entry.tag {
                USER_OBJ => entry.perm = mode >> 6 & RWX,
                tag if tag == middle => entry.perm = mode >> 3 & RWX,
                OTHER => entry.perm = mode & RWX,
                _ => {}
            }
        }
    }
}

/// Sets a list: the mode follows it, and the set-group-ID bit stays only where `keeps_setgid` says so, as
/// with chmod(2). Returns what is to be stored, if anything.
///
/// # Errors
/// EINVAL, EOPNOTSUPP for a value that is none, or a file that has none.
pub(super) fn set_access(
    inode: &mut Inode,
    value: &[u8],
    keeps_setgid: impl FnOnce(u32) -> bool,
) -> Result<Option<Vec<u8>>> {
    if inode.kind == Kind::Symlink {
        return refuse(libc::EOPNOTSUPP);
    }
    let Some(acl) = Acl::decode(value)? else { return Ok(None) };
    inode.perm = inode.perm & !ALL | acl.mode();
    if inode.perm & SETGID != 0 && !keeps_setgid(inode.gid) {
        inode.perm &= !SETGID;
    }
    Ok((!acl.is_plain()).then(|| acl.encode()))
}

/// Sets what is made in a directory begins with. Returns what is to be stored, if anything.
///
/// # Errors
/// EACCES for what is no directory; EINVAL, EOPNOTSUPP for a value that is none.
pub(super) fn set_default(inode: &Inode, value: &[u8]) -> Result<Option<Vec<u8>>> {
    match (inode.kind, Acl::decode(value)?) {
        (Kind::Symlink, _) => refuse(libc::EOPNOTSUPP),
        (Kind::Directory, acl) => Ok(acl.map(|acl| acl.encode())),
        (_, Some(_)) => refuse(libc::EACCES),
        (_, None) => Ok(None),
    }
}

/// The list of a file whose mode was changed.
///
/// # Errors
/// EINVAL for a stored value that is none.
pub(super) fn follow_mode(value: &[u8], mode: u16) -> Result<Vec<u8>> {
    let Some(mut acl) = Acl::decode(value)? else { return refuse(libc::EINVAL) };
    acl.set_mode(mode);
    Ok(acl.encode())
}

/// What a new file gets from its directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Inherited {
    /// Its permission bits.
    pub(super) perm: u16,
    /// Its lists.
    pub(super) xattrs: Vec<(&'static [u8], Vec<u8>)>,
}

/// What a new file of a mode gets: where its directory has a default list, as much of that as the mode
/// allows, and else the mode without the bits of the umask, umask(2).
pub(super) fn inherit(
    records: &impl Records,
    (dir, parent): (Node, &Inode),
    kind: Kind,
    perm: u16,
    umask: u32,
) -> Result<Inherited> {
    if kind == Kind::Symlink {
        return Ok(Inherited { perm, xattrs: Vec::new() });
    }
    let default = if parent.xattrs > 0 { records.xattr(dir.realm, dir.local, DEFAULT)? } else { None };
    let acl = default.as_deref().map(Acl::decode).transpose()?.flatten();
    let (Some(default), Some(mut acl)) = (default, acl) else {
        return Ok(Inherited { perm: perm & !(umask as u16 & ALL), xattrs: Vec::new() });
    };
    acl.set_mode(acl.mode() & perm);
    let mut xattrs = Vec::new();
    if !acl.is_plain() {
        xattrs.push((ACCESS, acl.encode()));
    }
    if kind == Kind::Directory {
        xattrs.push((DEFAULT, default));
    }
    Ok(Inherited { perm: perm & !ALL | acl.mode(), xattrs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        Acl { entries: entries.iter().map(|&(tag, perm, id)| Entry { tag, perm, id }).collect() }.encode()
    }

    const OWNER: (u16, u16, u32) = (USER_OBJ, 7, NOBODY);
    const ITS_GROUP: (u16, u16, u32) = (GROUP_OBJ, 5, NOBODY);
    const MASKED: (u16, u16, u32) = (MASK, 6, NOBODY);
    const OTHERS: (u16, u16, u32) = (OTHER, 1, NOBODY);

    #[test]
    fn lists_that_are_none() {
        let wrong = |entries: &[(u16, u16, u32)]| Acl::decode(&value(entries)).unwrap_err().errno();
        let cases: [&[(u16, u16, u32)]; 9] = [
            &[OWNER, ITS_GROUP],
            &[ITS_GROUP, OWNER, OTHERS],
            &[OWNER, OWNER, ITS_GROUP, OTHERS],
            &[OWNER, (USER, 4, 5), ITS_GROUP, OTHERS],
            &[OWNER, (USER, 4, NOBODY), ITS_GROUP, MASKED, OTHERS],
            &[OWNER, ITS_GROUP, MASKED, MASKED, OTHERS],
            &[OWNER, ITS_GROUP, (0x40, 1, 1)],
            &[OWNER, (GROUP_OBJ, 8, NOBODY), OTHERS],
            &[OWNER, ITS_GROUP, (0x03, 1, 1), OTHERS],
        ];
        for case in cases {
            assert_eq!(wrong(case), libc::EINVAL, "{case:?}");
        }
        assert_eq!(Acl::decode(b"").unwrap_err().errno(), libc::EINVAL);
        assert_eq!(Acl::decode(&[1, 0, 0, 0]).unwrap_err().errno(), libc::EOPNOTSUPP);
        assert_eq!(Acl::decode(&[2, 0, 0, 0, 1]).unwrap_err().errno(), libc::EINVAL);
        assert_eq!(Acl::decode(&[2, 0, 0, 0]).unwrap(), None);
    }

    #[test]
    fn a_list_and_a_mode() {
        let plain = Acl::decode(&value(&[OWNER, ITS_GROUP, OTHERS])).unwrap().unwrap();
        assert!(plain.is_plain() && plain.mode() == 0o751);
        let named = value(&[OWNER, (USER, 4, 5), ITS_GROUP, (GROUP, 2, 9), MASKED, OTHERS]);
        let mut acl = Acl::decode(&named).unwrap().unwrap();
        assert!(!acl.is_plain() && acl.mode() == 0o761 && acl.encode() == named);
        acl.set_mode(0o640);
        assert_eq!((acl.mode(), acl.perm(GROUP_OBJ), acl.perm(MASK)), (0o640, Some(5), Some(4)));
        assert_eq!(follow_mode(&named, 0o640).unwrap(), acl.encode());
        // A mask alone is more than a mode can say.
        assert!(!Acl::decode(&value(&[OWNER, ITS_GROUP, MASKED, OTHERS])).unwrap().unwrap().is_plain());
    }
}
