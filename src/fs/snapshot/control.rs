//! `.snapshots/.control`: what no plain call of the filesystem can say is asked by writing to it.
//!
//! It is in no listing. Only the owner of the thread's directory and root may open it: the kernel
//! sees to that by its mode. Each open file is one transaction: one write(2) is the request, and what
//! is read from offset 0 on then is the reply.

use std::sync::Arc;

use serde_json::{Value, json};

use super::automatic::automatic_record;
use super::request::{Refusal, Reply, Request};
use super::restore::Restored;
use super::retention::stamp;
use super::views::View;
use crate::fs::attr::{Attr, Caller};
use crate::fs::error::{Result, refuse};
use crate::fs::escape::{escaped, unescaped};
use crate::fs::file::Opened;
use crate::fs::handle::Handle;
use crate::fs::{Fs, Node};
use crate::store::record::{Kind, SnapshotRecord, Timestamp};
use crate::store::{self, Epoch, HOME, Local, RealmId};
use crate::suggest::unknown;

/// The name.
pub(super) const CONTROL: &[u8] = b".control";

/// Its number in a directory of snapshots: no symlink to a snapshot gets so high.
const LOCAL: Local = Local(0xffff_ffff);

/// Longest request in bytes.
const LONGEST: usize = 1 << 20;

/// Longest command that a snapshot remembers.
pub(super) const COMMAND_BYTES: usize = 200;

/// A request's outcome, before it is JSON.
pub(super) type Answer = std::result::Result<Value, Refusal>;

pub(super) fn node_in(dir: Node) -> Node {
    dir.sibling(LOCAL)
}

pub(super) fn attr_of(mut attr: Attr) -> Attr {
    (attr.kind, attr.perm, attr.nlink) = (Kind::File, 0o600, 1);
    (attr.size, attr.blocks) = (0, 0);
    attr
}

pub(super) fn is_control(node: Node) -> bool {
    node.is_view() && node.local == LOCAL
}

impl Fs {
    pub(super) fn open_control(&self, file: Node) -> Result<Opened> {
        Ok(Opened { fh: self.handles.open_virtual(file, Vec::new()), direct_io: true, flush: false })
    }

    /// Whether an open file takes requests: they may take long, so a thread that serves the kernel
    /// must not answer them.
    pub fn is_control_file(&self, fh: u64) -> bool {
        self.handles.get(fh).is_some_and(|handle| is_control(handle.node()))
    }

    /// Takes a request that was written to a control file; the reply is read from the same open file.
    ///
    /// # Errors
    /// EINVAL for anything but one write at offset 0 of at most 1 MiB that is JSON. What is wrong with a
    /// request as such stands in the reply.
    pub fn control_write(&self, caller: Caller, fh: u64, offset: u64, data: &[u8]) -> Result<u32> {
        let handle = self.handle(fh)?;
        if offset != 0 || data.is_empty() || data.len() > LONGEST {
            return refuse(libc::EINVAL);
        }
        let Ok(request) = serde_json::from_slice::<Value>(data) else { return refuse(libc::EINVAL) };
        let View::Snapshots(realm) = self.views.of(handle.node())? else { return refuse(libc::EINVAL) };
        begin(&handle)?;
        let reply = match serde_json::from_value::<Request>(request) {
            Ok(request) => self.answer(caller, realm, request),
            Err(error) => Err(Refusal::new(libc::EINVAL, format!("the request cannot be read: {error}"))),
        };
        let reply = reply.map_or_else(Reply::Error, Reply::Ok);
        let mut text = serde_json::to_vec(&reply).unwrap_or_default();
        text.push(b'\n');
        *handle.shown.lock() = Some(Arc::new(text));
        Ok(data.len() as u32)
    }

    fn answer(&self, caller: Caller, realm: RealmId, request: Request) -> Answer {
        match request {
            Request::Create { name, reason } => self.control_create(caller, realm, name, reason),
            Request::Restore { name, paths } => self.control_restore(caller, realm, &name, &paths),
            Request::Diff { from, to } => self.control_diff(realm, &from, to.as_deref()),
            Request::Log { paths } => self.control_log(realm, paths),
            Request::Versions { path } => self.control_versions(realm, path.as_deref()),
            Request::Show { path, version } => self.control_show(realm, &path, version),
        }
    }

    fn control_create(&self, caller: Caller, realm: RealmId, name: Option<String>, reason: String) -> Answer {
        let name = match name {
            Some(name) => bytes_of(&name)?,
            None => format!("manual-{}", stamp(Timestamp::now())).into_bytes(),
        };
        let (_, record) = self.take_named(caller, realm, &name, reason).map_err(|error| match error.errno() {
            libc::EEXIST => Refusal::new(libc::EEXIST, format!("there is a snapshot {:?} already", escaped(&name))),
            libc::EINVAL => Refusal::new(
                libc::EINVAL,
                format!(
                    "{:?} cannot be a snapshot's name: not with / in it, beginning with @ or auto-",
                    escaped(&name)
                ),
            ),
            _ => error.into(),
        })?;
        Ok(json!({ "name": escaped(&record.name) }))
    }

    fn control_restore(&self, caller: Caller, realm: RealmId, name: &str, paths: &[String]) -> Answer {
        if realm == HOME {
            return Err(Refusal::new(libc::EINVAL, "only threads can be restored, one by one, and not the whole home"));
        }
        let (epoch, record) = self.snapshot_meant(realm, name)?;
        let paths = paths.iter().map(|path| bytes_of(path)).collect::<std::result::Result<Vec<_>, _>>()?;
        let safety = automatic_record(format!("before the restore of {name}"), caller.pid);
        let restored = self.restore(realm, epoch, &safety, &paths)?;
        Ok(match restored {
            Restored::Done { safety, changes } => json!({
                "name": escaped(&record.name), "safety": escaped(&safety), "changes": changes,
            }),
            Restored::Already => json!({ "name": escaped(&record.name), "safety": null, "changes": 0 }),
            Restored::Refused { path, why } => return Err(path_refusal(&path, why, &record.name)),
        })
    }

    /// The snapshot of a name, or the newest at a time.
    pub(super) fn snapshot_meant(
        &self,
        realm: RealmId,
        name: &str,
    ) -> std::result::Result<(Epoch, SnapshotRecord), Refusal> {
        let bytes = bytes_of(name)?;
        if let Some(found) = self.kept_state(realm, &bytes)? {
            return Ok(found);
        }
        let all = self.kept_states(realm)?;
        let message = if bytes.first() == Some(&b'@') {
            match (super::names::time_in(&bytes), all.first()) {
                (None, _) => format!("{name:?} is no time such as @2026-11-30T11:55:00Z"),
                (_, None) => "there are no snapshots".into(),
                (_, Some((_, oldest))) => {
                    format!("there is no snapshot that old; the oldest is {:?}", escaped(&oldest.name))
                }
            }
        } else {
            let names: Vec<String> = all.iter().map(|(_, record)| escaped(&record.name)).collect();
            unknown("snapshot", name, names.iter().map(String::as_str))
        };
        Err(Refusal::new(libc::ENOENT, message))
    }
}

fn path_refusal(path: &[u8], why: store::Refusal, snapshot: &[u8]) -> Refusal {
    let (path, snapshot) = (escaped(path), escaped(snapshot));
    let (errno, message) = match why {
        store::Refusal::NotThere => (libc::ENOENT, format!("{snapshot:?} has no {path:?}: nothing was restored")),
        store::Refusal::NoDirectory => (
            libc::ENOENT,
            format!("the directory that {path:?} was in does not exist now: restore that one, or make it first"),
        ),
        store::Refusal::TooLarge => (
            libc::EFBIG,
            format!("{path:?} is over 1 GiB and has another name now, so it would be copied: restore the whole thread"),
        ),
    };
    Refusal::new(errno, message)
}

/// One request an open file.
fn begin(handle: &Handle) -> Result<()> {
    let mut shown = handle.shown.lock();
    if shown.as_ref().is_none_or(|shown| !shown.is_empty()) {
        return refuse(libc::EINVAL);
    }
    *shown = None;
    Ok(())
}

/// A name or a path from a request.
pub(super) fn bytes_of(text: &str) -> std::result::Result<Vec<u8>, Refusal> {
    unescaped(text).ok_or_else(|| {
        let message = format!("{text:?} is not written as it should be: \\\\ for a backslash, \\xNN for a byte");
        Refusal::new(libc::EINVAL, message)
    })
}
