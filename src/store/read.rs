//! Reading records.

use std::ops::ControlFlow;

use super::history::{self, Own};
use super::layer::{self, Sought};
use super::merge;
use super::record::{Dirent, Header, Inode, Usage};
use super::{Epoch, Error, Local, RealmId, Result, Store, key};
use crate::engine::{Keyspace, View};

/// What is called for each record, with its live key and its value, until it breaks.
pub type VisitRecord<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>;

/// A record's value, and the layer that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The value.
    pub value: Vec<u8>,
    /// Of a fork that has no such record of its own: the realm below that has it, and at which epoch.
    pub base: Option<(RealmId, Epoch)>,
}

impl Located {
    /// The value of an inode's record, with its content where it is.
    pub(super) fn inode(&self, ino: Local) -> Result<Inode> {
        let inode = Inode::decode(&self.value)?;
        Ok(match self.base {
            None => inode,
            Some((realm, epoch)) => inode.inherited(realm, ino, epoch),
        })
    }
}

/// Typed access to versioned records, the same for a reader and for a transaction.
pub trait Records {
    /// The record with this live key, and where it was found.
    fn locate(&self, live: &[u8]) -> Result<Option<Located>>;

    /// The value of the record with this live key.
    fn record(&self, live: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.locate(live)?.map(|located| located.value))
    }

    /// Visits the records whose live keys are in `from..to`, all of one kind in one realm, in key
    /// order. A transaction's own changes do not show.
    fn records(&self, from: &[u8], to: &[u8], visit: VisitRecord<'_>) -> Result<()>;

    /// An inode.
    fn inode(&self, realm: RealmId, ino: Local) -> Result<Option<Inode>> {
        self.locate(&key::inode(realm, ino))?.map(|located| located.inode(ino)).transpose()
    }

    /// An inode that a dirent names, and so has to exist.
    fn named_inode(&self, realm: RealmId, ino: Local) -> Result<Inode> {
        self.inode(realm, ino)?
            .ok_or_else(|| Error::corrupt(format!("a name leads to inode {}, which does not exist", ino.to_ino(realm))))
    }

    /// The dirent of a name.
    fn dirent(&self, realm: RealmId, dir: Local, hash: u64, name: &[u8]) -> Result<Option<Dirent>> {
        self.record(&key::dirent(realm, dir, hash, name))?.map(|bytes| Dirent::decode(&bytes)).transpose()
    }

    /// The value of an extended attribute.
    fn xattr(&self, realm: RealmId, ino: Local, name: &[u8]) -> Result<Option<Vec<u8>>> {
        self.record(&key::xattr(realm, ino, name))
    }

    /// The names of an inode's extended attributes.
    fn xattr_names(&self, realm: RealmId, ino: Local) -> Result<Vec<Vec<u8>>> {
        let prefix = key::numbered(key::tag::XATTR, realm, ino.0);
        let mut names = Vec::new();
        self.records(&prefix, &key::after(&prefix), &mut |key, _| {
            if let Some((_, name)) = key::parse_xattr(key) {
                names.push(name.to_vec());
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(names)
    }

    /// Where an inode has names: the directory and the name of each.
    fn links(&self, realm: RealmId, ino_realm: RealmId, ino: Local) -> Result<Vec<(Local, Vec<u8>)>> {
        let prefix = key::links_of(realm, ino_realm, ino);
        let mut links = Vec::new();
        self.records(&prefix, &key::after(&prefix), &mut |key, _| {
            if let Some((_, dir, name)) = key::parse_link(key) {
                links.push((dir, name.to_vec()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(links)
    }

    /// What a realm holds.
    fn usage_record(&self, realm: RealmId) -> Result<Usage> {
        let bytes = self.record(&key::of_realm(key::tag::USAGE, realm))?;
        bytes.map_or(Ok(Usage::default()), |bytes| Usage::decode(&bytes))
    }
}

enum Source<'s> {
    Newest,
    Frozen(Box<dyn View + 's>),
    Shared(&'s (dyn View + 's)),
}

/// Reads records: the newest of each, those of one instant, or as of an epoch.
pub struct Reader<'s> {
    store: &'s Store,
    source: Source<'s>,
    at: Option<Epoch>,
}

impl<'s> Reader<'s> {
    pub(super) fn newest(store: &'s Store) -> Self {
        Reader { store, source: Source::Newest, at: None }
    }

    pub(super) fn frozen(store: &'s Store) -> Self {
        Reader { store, source: Source::Frozen(store.engine.view()), at: None }
    }

    /// On a view that others read too.
    pub(super) fn over(store: &'s Store, view: &'s (dyn View + 's)) -> Self {
        Reader { store, source: Source::Shared(view), at: None }
    }

    /// The same, as everything was at an epoch.
    pub fn at(mut self, epoch: Epoch) -> Self {
        self.at = Some(epoch);
        self
    }

    /// The epoch that it shows; None for the present.
    pub fn epoch(&self) -> Option<Epoch> {
        self.at
    }

    /// The hash that orders a name in its directory.
    pub fn name_hash(&self, name: &[u8]) -> u64 {
        self.store.name_hash(name)
    }

    /// The keys below, for what is not versioned.
    pub fn raw(&self) -> &dyn View {
        match &self.source {
            Source::Newest => &*self.store.engine,
            Source::Frozen(view) => &**view,
            Source::Shared(view) => *view,
        }
    }

    pub(super) fn store(&self) -> &Store {
        self.store
    }

    fn base_of(&self, realm: RealmId) -> Option<(RealmId, Epoch)> {
        self.store.realm(realm)?.base()
    }
}

/// Follows a record through a fork's bases.
pub(super) fn resolve(store: &Store, view: &dyn View, live: &[u8], at: Option<Epoch>) -> Result<Option<Located>> {
    let own = match at {
        None => history::now(view, live)?,
        Some(epoch) => history::at(view, live, epoch)?,
    };
    let mut realm = key::realm_of(live).ok_or_else(|| Error::corrupt("a key is too short"))?;
    let mut base = None;
    let mut own = own;
    let mut sought = None;
    loop {
        match own {
            Own::Value(value) => return Ok(Some(Located { value, base })),
            Own::Whiteout => return Ok(None),
            Own::Gap => {}
        }
        let Some(direct) = store.realm(realm).and_then(|realm| realm.base()) else { return Ok(None) };
        let sought = sought.get_or_insert_with(|| Sought::new(key::record_part(live)));
        let (below, epoch) = match store.chain(realm, sought.kind())? {
            // Most often none of the forks between has it.
            Some(chain) if !chain.may_have(sought) => chain.last,
            _ => direct,
        };
        base = Some((below, epoch));
        own = match store.layer_may_have(below, epoch, sought)? {
            true => pinned(store, view, &key::live(below, &sought.part), (below, epoch))?,
            false => Own::Gap,
        };
        realm = below;
    }
}

/// What a base says of a record at the epoch that a fork pins. Most bases that have no such record have none in
/// their past either, because nothing was changed there since.
fn pinned(store: &Store, view: &dyn View, live: &[u8], (base, epoch): (RealmId, Epoch)) -> Result<Own> {
    match history::in_present(view, live, epoch)? {
        Some(own) => Ok(own),
        None if store.is_unchanged_since(base, epoch)? => Ok(Own::Gap),
        None => history::in_past(view, live, epoch),
    }
}

impl Records for Reader<'_> {
    fn locate(&self, live: &[u8]) -> Result<Option<Located>> {
        resolve(self.store, self.raw(), live, self.at)
    }

    fn records(&self, from: &[u8], to: &[u8], visit: VisitRecord<'_>) -> Result<()> {
        let realm = key::realm_of(from).ok_or_else(|| Error::corrupt("a key is too short"))?;
        if self.at.is_none() && self.base_of(realm).is_none() {
            return scan_live(self.raw(), from, to, visit);
        }
        let mut layers = vec![(realm, self.at)];
        let mut at = realm;
        // Of a range that is one group, such as a directory, most layers have nothing.
        let part = key::record_part(from);
        let group = layer::group(&part).filter(|group| to == key::after(&key::live(realm, group)));
        let group = group.map(|group| Sought::new(group.to_vec()));
        while let Some((below, epoch)) = self.base_of(at) {
            if group.as_ref().map_or(Ok(true), |group| self.store.layer_may_have(below, epoch, group))? {
                layers.push((below, Some(epoch)));
            }
            at = below;
        }
        // All layers at one instant: between two looks a record could move from one place to another.
        let frozen = matches!(self.source, Source::Newest).then(|| self.store.engine.view());
        let view = frozen.as_deref().unwrap_or_else(|| self.raw());
        let mut opened = Vec::with_capacity(layers.len());
        for (index, (realm, at)) in layers.into_iter().enumerate() {
            // After the view was made: a change is told before it is written.
            let past = match at {
                Some(epoch) => index == 0 || !self.store.is_unchanged_since(realm, epoch)?,
                None => false,
            };
            opened.push(merge::Layer::new(view, (realm, at), past, (from, to))?);
        }
        merge::visit(opened, from, visit)
    }
}

/// Visits the pairs with `from <= key < to`, of which each can be wrong: the first error ends it.
pub fn try_scan(view: &dyn View, space: Keyspace, from: &[u8], to: &[u8], visit: VisitRecord<'_>) -> Result<()> {
    let mut failure = None;
    view.scan(space, from, to, &mut |key, value| {
        visit(key, value).unwrap_or_else(|error| {
            failure = Some(error);
            ControlFlow::Break(())
        })
    })?;
    failure.map_or(Ok(()), Err)
}

/// Visits live records that are not whiteouts.
pub(super) fn scan_live(view: &dyn View, from: &[u8], to: &[u8], visit: VisitRecord<'_>) -> Result<()> {
    try_scan(view, Keyspace::Meta, from, to, &mut |key, raw| {
        let (header, payload) = Header::unwrap(raw)?;
        if header.whiteout { Ok(ControlFlow::Continue(())) } else { visit(key, payload) }
    })
}
