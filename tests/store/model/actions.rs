//! What a transaction does, in the store and in the model.

use proptest::prelude::*;
use threadfs::store::record::{Dirent, Kind, Orphan, Target, VersionRecord};
use threadfs::store::{Local, RealmId, Records, Store, Txn, key};

use super::{Kept, Realm, State};
use crate::helpers::{file, snapshot};

/// Numbers choose among what there is, whatever that is.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    Put(u8, u8),
    Delete(u8),
    PutName(u8, u8),
    DeleteName(u8),
    Create,
    Write {
        file: u8,
        offset: u16,
        length: u16,
        fill: u8,
    },
    Resize {
        file: u8,
        size: u16,
    },
    Clear {
        file: u8,
        from: u16,
        length: u16,
    },
    NewGeneration(u8),
    /// A document's commit: the old generation stays as a version.
    Commit {
        file: u8,
        length: u16,
        fill: u8,
    },
    DropVersion(u8),
    /// The last name goes, the content stays.
    Unlink(u8),
    /// The unlinked file is closed.
    Close(u8),
    /// It is written while it has no name.
    WriteUnlinked {
        file: u8,
        offset: u16,
        fill: u8,
    },
    Snapshot,
}

pub fn action() -> impl Strategy<Value = Action> {
    let file = any::<u8>;
    prop_oneof![
        4 => (0..12u8, any::<u8>()).prop_map(|(key, value)| Action::Put(key, value)),
        3 => (0..12u8).prop_map(Action::Delete),
        2 => (0..6u8, 0..3u8).prop_map(|(name, target)| Action::PutName(name, target)),
        1 => (0..6u8).prop_map(Action::DeleteName),
        2 => Just(Action::Create),
        6 => (file(), 0..400u16, 0..120u16, 1..=255u8)
            .prop_map(|(file, offset, length, fill)| Action::Write { file, offset, length, fill }),
        2 => (file(), prop_oneof![Just(0), 0..500u16]).prop_map(|(file, size)| Action::Resize { file, size }),
        2 => (file(), 0..400u16, 0..300u16).prop_map(|(file, from, length)| Action::Clear { file, from, length }),
        1 => file().prop_map(Action::NewGeneration),
        2 => (file(), 0..300u16, 1..=255u8).prop_map(|(file, length, fill)| Action::Commit { file, length, fill }),
        1 => any::<u8>().prop_map(Action::DropVersion),
        1 => file().prop_map(Action::Unlink),
        1 => file().prop_map(Action::Close),
        1 => (file(), 0..400u16, 1..=255u8).prop_map(|(file, offset, fill)| Action::WriteUnlinked { file, offset, fill }),
        1 => Just(Action::Snapshot),
    ]
}

pub fn pick<T: Clone>(mut from: impl ExactSizeIterator<Item = T>, choice: u8) -> Option<T> {
    match from.len() {
        0 => None,
        length => from.nth(usize::from(choice) % length),
    }
}

/// A transaction and what the model's realm becomes if it is committed.
pub struct Doing<'a, 's> {
    pub store: &'s Store,
    pub txn: &'a mut Txn<'s>,
    pub id: RealmId,
    pub realm: &'a mut Realm,
    pub given: Vec<Local>,
}

impl Doing<'_, '_> {
    pub fn act(&mut self, action: &Action) {
        // Nothing has a name in a dead realm, but what is open stays until it is closed.
        if self.realm.dead
            && !matches!(action, Action::Close(_) | Action::DropVersion(_) | Action::WriteUnlinked { .. })
        {
            return;
        }
        match *action {
            Action::Put(number, value) => {
                let live = self.xattr(number);
                self.txn.put_record(live.clone(), &[value]).unwrap();
                self.realm.live.records.insert(key::record_part(&live), vec![value]);
            }
            Action::Delete(number) => {
                let live = self.xattr(number);
                self.txn.delete_record(live.clone()).unwrap();
                self.realm.live.records.remove(&key::record_part(&live));
            }
            Action::PutName(name, target) => {
                self.delete_name(name);
                let dirent = Dirent { target: Target::Inode(Local(u64::from(target) + 500)), kind: Kind::File };
                self.txn.put_dirent(self.id, Local(3), &[b'n', name + 1], &dirent).unwrap();
                for (live, value) in self.name(name, &dirent) {
                    self.realm.live.records.insert(key::record_part(&live), value);
                }
            }
            Action::DeleteName(name) => self.delete_name(name),
            Action::Snapshot => {
                let number = self.txn.take_snapshot(self.id, &snapshot()).unwrap();
                let state = self.realm.live.clone();
                self.realm.snapshots.insert(number, state);
            }
            Action::DropVersion(which) => self.drop_version(which),
            Action::Close(which) => self.close(which),
            Action::WriteUnlinked { file, offset, fill } => self.write_unlinked(file, offset, fill),
            Action::Create => self.create(),
            _ => self.change_file(action),
        }
    }

    fn xattr(&self, number: u8) -> Vec<u8> {
        key::xattr(self.id, Local(u64::from(number % 3)), &[b'a' + number / 3])
    }

    /// The two records of a name.
    fn name(&self, name: u8, dirent: &Dirent) -> [(Vec<u8>, Vec<u8>); 2] {
        let bytes = [b'n', name + 1];
        let (realm, ino) = dirent.inode_of(self.id);
        let hash = self.store.name_hash(&bytes);
        [
            (key::dirent(self.id, Local(3), hash, &bytes), dirent.encode()),
            (key::link(self.id, realm, ino, Local(3), &bytes), Vec::new()),
        ]
    }

    fn delete_name(&mut self, name: u8) {
        let bytes = [b'n', name + 1];
        let hash = self.store.name_hash(&bytes);
        let Some(dirent) = self.txn.dirent(self.id, Local(3), hash, &bytes).unwrap() else { return };
        self.txn.delete_dirent(self.id, Local(3), &bytes, &dirent).unwrap();
        for (live, _) in self.name(name, &dirent) {
            self.realm.live.records.remove(&key::record_part(&live)).expect("the model has the name too");
        }
    }

    fn create(&mut self) {
        if self.realm.live.files.len() >= 4 {
            return;
        }
        let ino = self.txn.new_ino(self.id).unwrap();
        self.given.push(ino);
        let mut inode = file();
        inode.generation_born = self.txn.epoch(self.id).unwrap();
        self.txn.put_inode(self.id, ino, &inode).unwrap();
        self.txn.add_usage(self.id, 1, 0).unwrap();
        self.realm.live.set_usage(1, 0);
        self.realm.live.save(ino, inode, Vec::new());
    }

    fn change_file(&mut self, action: &Action) {
        let (Action::Write { file, .. }
        | Action::Resize { file, .. }
        | Action::Clear { file, .. }
        | Action::NewGeneration(file)
        | Action::Commit { file, .. }
        | Action::Unlink(file)) = *action
        else {
            return;
        };
        let Some(ino) = pick(self.realm.live.files.keys().copied(), file) else { return };
        let (mut inode, mut bytes) = self.realm.live.files[&ino].clone();
        let (id, before) = (self.id, inode.allocated);
        match *action {
            Action::Write { offset, length, fill, .. } => {
                let data = content(length, fill);
                self.txn.write_content(id, ino, &mut inode, u64::from(offset), &data).unwrap();
                overwrite(&mut bytes, offset, &data);
            }
            Action::Resize { size, .. } => {
                self.txn.resize_content(id, ino, &mut inode, u64::from(size)).unwrap();
                bytes.resize(usize::from(size), 0);
            }
            Action::Clear { from, length, .. } => {
                let range = u64::from(from)..u64::from(from + length);
                self.txn.clear_content(id, ino, &mut inode, range).unwrap();
                let to = usize::from(from + length).min(bytes.len());
                if let Some(cleared) = bytes.get_mut(usize::from(from)..to) {
                    cleared.fill(0);
                }
            }
            Action::NewGeneration(_) => {
                self.txn.new_generation(id, ino, &mut inode).unwrap();
                bytes.clear();
            }
            Action::Commit { length, fill, .. } => {
                let record = VersionRecord {
                    generation: inode.generation,
                    size: inode.size,
                    time: inode.mtime,
                    epoch: inode.generation_born,
                    pid: 1,
                };
                self.txn.put_plain(key::version(id, ino, inode.generation), record.encode());
                self.realm.kept.push(Kept { ino, inode: inode.clone(), bytes: std::mem::take(&mut bytes) });
                self.txn.begin_generation(id, &mut inode).unwrap();
                bytes = content(length, fill);
                self.txn.write_content(id, ino, &mut inode, 0, &bytes).unwrap();
            }
            Action::Unlink(_) => {
                self.txn.add_usage(id, -1, -(inode.allocated as i64)).unwrap();
                self.txn.delete_record(key::inode(id, ino)).unwrap();
                inode.nlink = 0;
                self.txn.put_plain(
                    orphan_key(id, ino),
                    Orphan { inode: inode.clone(), xattrs: Default::default() }.encode(),
                );
                self.realm.live.set_usage(-1, -(inode.allocated as i64));
                self.realm.live.files.remove(&ino);
                self.realm.live.records.remove(&key::record_part(&key::inode(id, ino)));
                self.realm.orphans.insert(ino, (inode, bytes));
                return;
            }
            _ => return,
        }
        assert_eq!(inode.size, bytes.len() as u64, "the size after {action:?}");
        self.txn.put_inode(id, ino, &inode).unwrap();
        self.realm.live.set_usage(0, inode.allocated as i64 - before as i64);
        self.realm.live.save(ino, inode, bytes);
    }

    fn drop_version(&mut self, which: u8) {
        let Some(at) = pick(0..self.realm.kept.len(), which) else { return };
        let Kept { ino, inode, .. } = self.realm.kept.remove(at);
        let chunks = inode.size.div_ceil(inode.chunk_bytes());
        self.txn.discard(self.id, ino, inode.generation, inode.generation_born, chunks).unwrap();
        self.txn.delete_plain(key::version(self.id, ino, inode.generation));
    }

    fn close(&mut self, which: u8) {
        let Some(ino) = pick(self.realm.orphans.keys().copied(), which) else { return };
        let (inode, _) = self.realm.orphans.remove(&ino).unwrap();
        self.txn.drop_generation(self.id, ino, &inode).unwrap();
        self.txn.delete_plain(orphan_key(self.id, ino));
    }

    fn write_unlinked(&mut self, which: u8, offset: u16, fill: u8) {
        let Some(ino) = pick(self.realm.orphans.keys().copied(), which) else { return };
        let (inode, bytes) = self.realm.orphans.get_mut(&ino).unwrap();
        let data = content(40, fill);
        self.txn.write_content(self.id, ino, inode, u64::from(offset), &data).unwrap();
        overwrite(bytes, offset, &data);
        self.txn
            .put_plain(orphan_key(self.id, ino), Orphan { inode: inode.clone(), xattrs: Default::default() }.encode());
    }
}

impl State {
    fn save(&mut self, ino: Local, inode: threadfs::store::record::Inode, bytes: Vec<u8>) {
        self.records.insert(key::record_part(&key::inode(RealmId(0), ino)), inode.encode());
        self.files.insert(ino, (inode, bytes));
    }
}

fn orphan_key(realm: RealmId, ino: Local) -> Vec<u8> {
    key::numbered(key::tag::ORPHAN, realm, ino.0)
}

/// Bytes that tell where they are from.
fn content(length: u16, fill: u8) -> Vec<u8> {
    (0..length).map(|at| fill.wrapping_add((at / 7) as u8)).collect()
}

fn overwrite(bytes: &mut Vec<u8>, offset: u16, data: &[u8]) {
    let (from, to) = (usize::from(offset), usize::from(offset) + data.len());
    if !data.is_empty() {
        bytes.resize(bytes.len().max(to), 0);
        bytes[from..to].copy_from_slice(data);
    }
}
