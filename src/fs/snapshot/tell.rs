//! What a snapshot tells of itself: the extended attributes `user.threadfs.*` of its directory.

use super::views::View;
use crate::fs::error::{Result, refuse};
use crate::fs::virtualdir::rfc3339;
use crate::fs::{Fs, Node};
use crate::store::record::{SnapshotKind, SnapshotRecord};
use crate::store::{Epoch, ROOT, RealmId, Records};

/// What the names of these attributes begin with.
const PREFIX: &[u8] = b"user.threadfs.";

/// As it stands in attributes and replies.
pub(super) fn kind(kind: SnapshotKind) -> &'static str {
    match kind {
        SnapshotKind::Named => "named",
        SnapshotKind::Automatic => "automatic",
        SnapshotKind::Home => "home",
    }
}

/// An attribute that is known from the record alone; None for one that is not there.
fn known(epoch: Epoch, record: &SnapshotRecord, name: &str) -> Option<Vec<u8>> {
    Some(match name {
        "name" => record.name.clone(),
        "time" => rfc3339(record.time).into_bytes(),
        "version" => epoch.to_string().into_bytes(),
        "kind" => kind(record.kind).into(),
        "reason" if !record.reason.is_empty() => record.reason.clone().into_bytes(),
        "pid" if record.pid != 0 => record.pid.to_string().into_bytes(),
        "command" if !record.command.is_empty() => record.command.clone().into_bytes(),
        _ => return None,
    })
}

const KNOWN: [&str; 7] = ["name", "time", "version", "kind", "reason", "pid", "command"];

/// What has to be computed: a list only names these.
const COMPUTED: [&str; 2] = ["bytes", "changes"];

/// Those of a snapshot that has none before it to compare with.
const COMPUTED_OF_FIRST: [&str; 1] = ["bytes"];

impl Fs {
    /// Attributes as they were; of a snapshot's root also its own.
    pub(in crate::fs) fn getxattr_view(&self, node: Node, name: &[u8]) -> Result<Vec<u8>> {
        let view = self.views.of(node)?;
        let (View::At(realm, epoch) | View::Within(realm, epoch)) = view else { return refuse(libc::ENODATA) };
        if let (View::At(..), ROOT, Some(own)) = (view, node.local, name.strip_prefix(PREFIX))
            && let Some(value) = self.own_attribute(realm, epoch, own)?
        {
            return Ok(value);
        }
        match self.past(realm, epoch)?.xattr(realm, node.local, name)? {
            Some(value) => Ok(value),
            None => refuse(libc::ENODATA),
        }
    }

    fn own_attribute(&self, realm: RealmId, epoch: Epoch, own: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(record) = self.state_record(realm, epoch)? else { return Ok(None) };
        Ok(match own {
            b"bytes" => Some(self.store.unique_bytes(realm, epoch)?.to_string().into_bytes()),
            b"changes" => self.counts_of(realm, epoch)?.map(|counts| counts.to_string().into_bytes()),
            own => std::str::from_utf8(own).ok().and_then(|own| known(epoch, &record, own)),
        })
    }

    pub(in crate::fs) fn listxattr_view(&self, node: Node) -> Result<Vec<u8>> {
        let view = self.views.of(node)?;
        let (View::At(realm, epoch) | View::Within(realm, epoch)) = view else { return Ok(Vec::new()) };
        let mut names = self.past(realm, epoch)?.xattr_names(realm, node.local)?;
        if let (View::At(..), ROOT) = (view, node.local)
            && let Some(record) = self.state_record(realm, epoch)?
        {
            // Nothing changed since the one before the first.
            let has_older = self.store.snapshot_before(realm, epoch).is_some();
            let computed: &[&str] = if has_older { &COMPUTED } else { &COMPUTED_OF_FIRST };
            let own = KNOWN.iter().filter(|own| known(epoch, &record, own).is_some()).chain(computed);
            for own in own {
                let name = [PREFIX, own.as_bytes()].concat();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Ok(names.into_iter().flat_map(|name| name.into_iter().chain([0])).collect())
    }
}
