//! The numbers of views.

use std::collections::HashMap;

use parking_lot::RwLock;

use crate::fs::Node;
use crate::fs::error::{Result, refuse};
use crate::store::{Epoch, Local, NO_REALMS, ROOT, RealmId};

/// What a number in place of a realm's stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::fs) enum View {
    /// The `.snapshots` directory of a realm.
    Snapshots(RealmId),
    /// A realm as it was at an epoch.
    At(RealmId, Epoch),
    /// The same of a thread, where it stands in a snapshot of everything. It has a number of its own because a
    /// directory is in one place.
    Within(RealmId, Epoch),
}

impl Node {
    /// Whether it is in a view of the past, or is a directory of such views.
    pub fn is_view(self) -> bool {
        self.is_virtual() && !self.is_control()
    }
}

#[derive(Debug, Default)]
struct Table {
    by_view: HashMap<View, RealmId>,
    by_number: Vec<View>,
    /// Snapshots that a time was asked for: the symlinks to them.
    links: Vec<(RealmId, Epoch)>,
}

/// The views that were looked up since the mount.
#[derive(Debug, Default)]
pub(in crate::fs) struct Views {
    table: RwLock<Table>,
}

impl Views {
    /// The number of a view.
    ///
    /// # Errors
    /// ENFILE when a million views were looked up.
    pub(in crate::fs) fn number(&self, view: View) -> Result<RealmId> {
        if let Some(number) = self.table.read().by_view.get(&view) {
            return Ok(*number);
        }
        let mut table = self.table.write();
        if let Some(number) = table.by_view.get(&view) {
            return Ok(*number);
        }
        let number = NO_REALMS.start + table.by_number.len() as u32;
        // The last number is that of the control directory.
        if number + 1 >= NO_REALMS.end {
            return refuse(libc::ENFILE);
        }
        table.by_number.push(view);
        table.by_view.insert(view, RealmId(number));
        Ok(RealmId(number))
    }

    /// The root directory of a view.
    pub(in crate::fs) fn root(&self, view: View) -> Result<Node> {
        Ok(Node { realm: self.number(view)?, local: ROOT })
    }

    /// The view that a node is in.
    ///
    /// # Errors
    /// ESTALE for a number that was not given out.
    pub(in crate::fs) fn of(&self, node: Node) -> Result<View> {
        let index = node.realm.0.wrapping_sub(NO_REALMS.start) as usize;
        let view = self.table.read().by_number.get(index).copied();
        view.map_or_else(|| refuse(libc::ESTALE), Ok)
    }

    /// The symlink in a directory of snapshots that points to one of them.
    pub(super) fn link(&self, dir: Node, realm: RealmId, epoch: Epoch) -> Node {
        let mut table = self.table.write();
        let found = table.links.iter().position(|link| *link == (realm, epoch));
        let index = found.unwrap_or_else(|| {
            table.links.push((realm, epoch));
            table.links.len() - 1
        });
        dir.sibling(Local(ROOT.0 + 1 + index as u64))
    }

    /// Which snapshot a symlink points to.
    pub(super) fn linked(&self, node: Node) -> Option<Epoch> {
        let index = node.local.0.checked_sub(ROOT.0 + 1)?;
        self.table.read().links.get(index as usize).map(|(_, epoch)| *epoch)
    }
}
