//! What is different between two states of a thread, as the control file tells it.

use serde::Serialize;

use super::control::Answer;
use crate::fs::error::Result;
use crate::fs::escape::escaped;
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::diff::{Aspect, Change, Side};
use crate::store::record::Kind;
use crate::store::{Epoch, ROOT, RealmId};

/// How much is different.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) added: u64,
    pub(super) removed: u64,
    /// Changed or renamed.
    pub(super) changed: u64,
}

impl Counts {
    pub(super) fn of(changes: &[Change]) -> Counts {
        let mut counts = Counts::default();
        for change in changes {
            match word(change) {
                "added" => counts.added += 1,
                "removed" => counts.removed += 1,
                _ => counts.changed += 1,
            }
        }
        counts
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "+{} -{} ~{}", self.added, self.removed, self.changed)
    }
}

/// A path that is different.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    path: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    kind: &'static str,
    /// The kind before, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind_before: Option<&'static str>,
    before: Option<u64>,
    after: Option<u64>,
    what: Vec<&'static str>,
    /// Whether the rules make it a document.
    document: bool,
}

fn word(change: &Change) -> &'static str {
    match (&change.renamed_from, change.before, change.after) {
        (Some(_), ..) => "renamed",
        (None, None, _) => "added",
        (None, _, None) => "removed",
        _ => "changed",
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::Fifo => "fifo",
        Kind::Socket => "socket",
        Kind::CharDevice => "character device",
        Kind::BlockDevice => "block device",
    }
}

fn aspect(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Kind => "kind",
        Aspect::Content => "content",
        Aspect::Target => "target",
        Aspect::Device => "device",
        Aspect::Mode => "mode",
        Aspect::Owner => "owner",
        Aspect::Xattrs => "xattrs",
        Aspect::Times => "times",
    }
}

/// Only the sizes of files say something.
fn size(side: Option<Side>) -> Option<u64> {
    side.filter(|side| matches!(side.kind, Kind::File | Kind::Symlink)).map(|side| side.size)
}

/// The root of the thread itself is `.`.
fn path_text(path: &[u8]) -> String {
    if path.is_empty() { String::from(".") } else { escaped(path) }
}

impl Fs {
    /// What is different between a snapshot and a later one, or the present.
    ///
    /// # Errors
    /// ESTALE when one of them was dropped meanwhile.
    pub(super) fn changes(&self, realm: RealmId, from: Epoch, to: Option<Epoch>) -> Result<Vec<Change>> {
        let comparison = self.store.comparison(realm, from, to);
        // After the store was frozen: so what is there now was there whole.
        self.past(realm, from)?;
        if let Some(to) = to {
            self.past(realm, to)?;
        }
        Ok(comparison.changes()?)
    }

    pub(super) fn listed(&self, realm: RealmId, changes: &[Change]) -> Result<Vec<Listed>> {
        let top = self.rules_of(Node { realm, local: ROOT })?;
        let list = changes.iter().map(|change| {
            let side = change.after.or(change.before);
            let mut parts = change.path.split(|byte| *byte == b'/');
            let name = parts.next_back().unwrap_or_default();
            let dir = parts.fold(top.clone(), |dir, name| self.rules.child(&dir, name));
            let is_file = side.is_some_and(|side| side.kind == Kind::File);
            Listed {
                path: path_text(&change.path),
                change: word(change),
                from: change.renamed_from.as_deref().map(path_text),
                kind: side.map_or("", |side| kind(side.kind)),
                kind_before: change
                    .before
                    .filter(|before| side.is_some_and(|side| side.kind != before.kind))
                    .map(|before| kind(before.kind)),
                before: size(change.before),
                after: size(change.after),
                what: change.aspects.iter().copied().map(aspect).collect(),
                document: is_file && self.rules.role(&dir, name) == Role::Document,
            }
        });
        Ok(list.collect())
    }

    pub(super) fn control_diff(&self, realm: RealmId, from: &str, to: Option<&str>) -> Answer {
        let (from, from_record) = self.snapshot_meant(realm, from)?;
        let to = to.map(|to| self.snapshot_meant(realm, to)).transpose()?;
        let backwards = to.as_ref().is_some_and(|(to, _)| *to < from);
        let (older, newer) = match &to {
            Some((to, _)) if backwards => (*to, Some(from)),
            Some((to, _)) => (from, Some(*to)),
            None => (from, None),
        };
        let mut changes = self.changes(realm, older, newer)?;
        if backwards {
            changes = turned(changes);
        }
        let counts = Counts::of(&changes);
        let reply = serde_json::json!({
            "from": escaped(&from_record.name),
            "to": to.map(|(_, record)| escaped(&record.name)),
            "counts": counts,
            "changes": self.listed(realm, &changes)?,
        });
        Ok(reply)
    }
}

/// The same, seen from the other side.
fn turned(changes: Vec<Change>) -> Vec<Change> {
    let turn = |mut change: Change| {
        std::mem::swap(&mut change.before, &mut change.after);
        if let Some(from) = change.renamed_from.take() {
            change.renamed_from = Some(std::mem::replace(&mut change.path, from));
        }
        change
    };
    let mut turned: Vec<Change> = changes.into_iter().map(turn).collect();
    turned.sort_by(|one, other| one.path.cmp(&other.path));
    turned
}
