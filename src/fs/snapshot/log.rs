//! The timeline of a thread: its snapshots and the versions of its documents.

use serde_json::{Value, json};

use super::control::{Answer, bytes_of};
use super::diff::Counts;
use super::request::Refusal;
use super::tell::kind;
use crate::engine::Keyspace;
use crate::fs::error::Result;
use crate::fs::escape::escaped;
use crate::fs::virtualdir::rfc3339;
use crate::fs::{Fs, Node};
use crate::store::record::{SnapshotRecord, VersionRecord};
use crate::store::{Content, Epoch, Local, ROOT, Reader, RealmId, Records, key};

impl Fs {
    /// How much changed since the snapshot before; None for the first, and for one that goes just now.
    pub(super) fn counts_of(&self, realm: RealmId, epoch: Epoch) -> Result<Option<Counts>> {
        let Some(before) = self.store.snapshot_before(realm, epoch) else { return Ok(None) };
        Ok(Some(Counts::of(&self.changes(realm, before, Some(epoch))?)))
    }

    pub(super) fn control_log(&self, realm: RealmId, paths: bool) -> Answer {
        let all = self.kept_states(realm)?;
        let mut listed = Vec::new();
        let mut before = None;
        for (epoch, record) in &all {
            // One that was dropped meanwhile is passed over.
            match self.log_entry(realm, before, *epoch, record, paths) {
                Ok(entry) => {
                    listed.push(entry);
                    before = Some(*epoch);
                }
                Err(error) if error.errno() == libc::ESTALE => {}
                Err(error) => return Err(error.into()),
            }
        }
        let now = match before {
            Some(before) => self.changed(realm, before, None, paths)?,
            None => Value::Null,
        };
        Ok(json!({ "snapshots": listed, "now": now }))
    }

    fn log_entry(
        &self,
        realm: RealmId,
        before: Option<Epoch>,
        epoch: Epoch,
        record: &SnapshotRecord,
        paths: bool,
    ) -> Result<Value> {
        let mut entry = json!({
            "name": escaped(&record.name),
            "version": epoch,
            "time": rfc3339(record.time),
            "kind": kind(record.kind),
            "reason": record.reason,
            "pid": record.pid,
            "command": record.command,
            "bytes": self.store.unique_bytes(realm, epoch)?,
        });
        if let (Some(before), Some(entry)) = (before, entry.as_object_mut())
            && let Value::Object(changed) = self.changed(realm, before, Some(epoch), paths)?
        {
            entry.extend(changed);
        }
        Ok(entry)
    }

    fn changed(&self, realm: RealmId, from: Epoch, to: Option<Epoch>, paths: bool) -> Result<Value> {
        let changes = self.changes(realm, from, to)?;
        let mut changed = json!({ "counts": Counts::of(&changes) });
        if let (true, Some(changed)) = (paths, changed.as_object_mut()) {
            changed.insert("changes".into(), json!(self.listed(realm, &changes)?));
        }
        Ok(changed)
    }

    pub(super) fn control_versions(&self, realm: RealmId, path: Option<&str>) -> Answer {
        let documents = match path {
            Some(path) => vec![(bytes_of(path)?, self.document_at(realm, path)?)],
            None => self.documents_in(realm)?,
        };
        let mut listed = Vec::new();
        for (path, node) in documents {
            let inode = self.load(&self.store.reader(), node)?;
            for (number, version) in self.versions_of(node, &inode)? {
                listed.push(json!({
                    "path": escaped(&path),
                    "version": number,
                    "time": rfc3339(version.time),
                    "size": version.size,
                    "pid": version.pid,
                }));
            }
        }
        Ok(json!({ "versions": listed }))
    }

    /// Everything in a realm that has versions, by its present path.
    fn documents_in(&self, realm: RealmId) -> Result<Vec<(Vec<u8>, Node)>> {
        let prefix = key::of_realm(key::tag::VERSION, realm);
        let end = key::after(&prefix);
        let mut found = Vec::new();
        let mut from = prefix;
        // From one inode to the next: each can have many versions.
        while let Some((next, _)) = self.store.engine().first(Keyspace::Meta, &from, &end)? {
            let Some(file) = key::number_of(&next).map(Local) else { break };
            from = key::after(&key::numbered(key::tag::VERSION, realm, file.0));
            // A restored document has another number than its versions are filed under.
            for local in self.store.owners(realm, file)? {
                let node = Node { realm, local };
                let inode = self.store.reader().inode(realm, local)?;
                if inode.is_some_and(|inode| inode.file_of(local) == file)
                    && let Some(path) = self.path_within(node)?
                {
                    found.push((path, node));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// The path of an inode from its thread's directory.
    fn path_within(&self, node: Node) -> Result<Option<Vec<u8>>> {
        let (Some(path), Some(top)) = (self.path_of(node)?, self.path_of(node.sibling(ROOT))?) else { return Ok(None) };
        let below = if top.is_empty() { Some(&path[..]) } else { path.strip_prefix(&top[..]) };
        Ok(below.map(|path| path.strip_prefix(b"/").unwrap_or(path).to_vec()))
    }

    fn document_at(&self, realm: RealmId, path: &str) -> std::result::Result<Node, Refusal> {
        let bytes = bytes_of(path)?;
        let mut node = Node { realm, local: ROOT };
        for name in bytes.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".") {
            let none = || Refusal::new(libc::ENOENT, format!("there is no document {path:?}"));
            let dirent = self.dirent(&self.store.reader(), node, name)?.ok_or_else(none)?;
            node = Node::from(dirent.inode_of(node.realm));
        }
        Ok(node)
    }

    pub(super) fn control_show(&self, realm: RealmId, path: &str, number: u64) -> Answer {
        let node = self.document_at(realm, path)?;
        let view = self.store.view();
        // Looked up in the frozen view: so a version that is found is there whole.
        let inode = self.load(&view, node)?;
        let file = Node { local: inode.file_of(node.local), ..node };
        let record = version_in(&view, file, number)?.ok_or_else(|| {
            let versions = self.versions_of(node, &inode).unwrap_or_default();
            let known = match (versions.first(), versions.last()) {
                (Some((first, _)), Some((last, _))) => format!("; kept are {first} to {last}"),
                _ => String::from(", nor any other"),
            };
            Refusal::new(libc::ENOENT, format!("there is no version {number} of {path:?}{known}"))
        })?;
        if record.size > self.options.max_document_bytes {
            return Err(crate::fs::Error::Errno(libc::EFBIG).into());
        }
        let content =
            Content { generation: record.generation, layers: Vec::new(), ..Content::of(realm, node.local, &inode) };
        let mut bytes = vec![0; record.size as usize];
        view.read_content(&content, 0, &mut bytes)?;
        Ok(match String::from_utf8(bytes) {
            Ok(text) => json!({ "content": text }),
            // Where documents are not checked they can hold anything.
            Err(error) => json!({ "escaped": escaped(error.as_bytes()) }),
        })
    }
}

fn version_in(view: &Reader<'_>, file: Node, number: u64) -> Result<Option<VersionRecord>> {
    let found = key::version(file.realm, file.local, number);
    Ok(view.raw().get(Keyspace::Meta, &found)?.map(|bytes| VersionRecord::decode(&bytes)).transpose()?)
}
