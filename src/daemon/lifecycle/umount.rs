//! Ending a mount from a command, and waiting until its store is free.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::detach::detach;
use super::holders;
use crate::daemon::control::{self, Mounted, is_dead};
use crate::daemon::error::Error;
use crate::daemon::mountinfo::{self, Mount};
use crate::daemon::sys::{self, Pidfd};

/// How long the daemon may take before it is looked for what keeps it, and how long somebody may keep the mount busy whom
/// nobody sees.
const SHORT: Duration = Duration::from_secs(2);

/// Between two tries to unmount.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the daemon may take to write out what it has.
const LONG: Duration = Duration::from_secs(600);

/// How a mount ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmounted {
    /// The daemon has ended, the store is free.
    Done,
    /// It was dead, and is gone from the tree.
    DeadCleared,
    /// It is gone from the tree, and the daemon serves what is open until that is closed.
    Detached,
    /// It is gone from the tree; its daemon cannot be seen from here.
    OutOfSight,
}

/// Unmounts; with `lazy` also while it is in use, and without a word to the daemon.
///
/// # Errors
/// It is in use (says by whom), is no threadfs mount, or this user may not unmount it.
pub fn umount(given: &Path, lazy: bool) -> Result<Unmounted, Error> {
    let (path, mount) = control::find(given)?;
    if lazy {
        detach(&path, true).map_err(|error| refused(&path, &error))?;
        return Ok(Unmounted::Detached);
    }
    if sys::probe_filesystem(&path).is_err_and(|error| is_dead(&error)) {
        detach(&path, true).map_err(|error| refused(&path, &error))?;
        return Ok(Unmounted::DeadCleared);
    }
    let daemon = Daemon::of(&path, &mount);
    detach_unless_used(&path).map_err(|error| refused(&path, &error))?;
    match daemon {
        Some(daemon) => wait_for(&daemon, given, &mount).map(|()| Unmounted::Done),
        None => Ok(Unmounted::OutOfSight),
    }
}

/// Unmounts what nobody uses. Somebody may be just looking at it, as df(1) and whatever watches disks do at each mount:
/// then it is busy and nobody can be seen who has it. Nothing tells when that is over.
fn detach_unless_used(path: &Path) -> io::Result<()> {
    let until = Instant::now() + SHORT;
    loop {
        match detach(path, false) {
            Err(error)
                if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < until && !is_visibly_used(path) =>
            {
                thread::sleep(PAUSE);
            }
            result => return result,
        }
    }
}

fn is_visibly_used(path: &Path) -> bool {
    !holders::of(path).is_empty() || mountinfo::below(path).is_ok_and(|below| !below.is_empty())
}

/// The process that serves a mount.
struct Daemon {
    pid: u32,
    process: Pidfd,
}

impl Daemon {
    /// Finds it, while the mount is there: afterwards its number may be somebody else's. One in
    /// another pid namespace has a number that means nothing here.
    fn of(path: &Path, mount: &Mount) -> Option<Daemon> {
        let pid = Mounted::probe(path, mount).ok()?.pid;
        let process = Pidfd::open(pid).ok()?;
        holders::command(pid).starts_with("threadfs").then_some(Daemon { pid, process })
    }
}

fn wait_for(daemon: &Daemon, given: &Path, mount: &Mount) -> Result<(), Error> {
    let (shown, pid) = (given.display(), daemon.pid);
    let wait = |limit| daemon.process.wait(limit).map_err(Error::system(format!("wait for pid {pid}")));
    if wait(SHORT)? {
        return Ok(());
    }
    if let Some(other) = holders::still_mounted_for(&mount.device) {
        return Err(Error::Refused(format!(
            "{shown} is unmounted here, but it is still mounted where pid {other} ({}) runs, such as \
             a container with a bind of it: the daemon, pid {pid}, goes on until that ends; \
             kill -TERM {pid} ends it now",
            holders::command(other)
        )));
    }
    if wait(LONG)? {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{shown} is unmounted, but its daemon, pid {pid}, has not ended after {} seconds: its log \
         may say why",
        LONG.as_secs()
    )))
}

/// Why it could not be unmounted, and what to do.
fn refused(path: &Path, error: &io::Error) -> Error {
    let shown = path.display();
    match error.raw_os_error() {
        Some(libc::EBUSY) => Error::Refused(busy(path)),
        Some(libc::EPERM | libc::EACCES) => Error::Refused(format!(
            "no permission to unmount {shown}: run as root, or as the user who mounted it with \
             fusermount3 installed"
        )),
        _ => Error::Refused(format!("cannot unmount {shown}: {error}")),
    }
}

fn busy(path: &Path) -> String {
    let shown = path.display();
    let mut text = format!("{shown} is in use");
    let mut line = |what: String| {
        // Writing to a String cannot fail.
        write!(text, "\n  {what}").unwrap_or_default();
    };
    let holders = holders::of(path);
    let below = mountinfo::below(path).unwrap_or_default();
    if holders.is_empty() && below.is_empty() {
        line(String::from("by a process that cannot be seen from here"));
    }
    holders.iter().for_each(|holder| line(holder.to_string()));
    for mount in &below {
        line(format!("mount of {} on {}", mount.source, mount.mountpoint.display()));
    }
    line(format!(
        "end these first, or use threadfs umount --lazy {shown}: it leaves the tree at once, and the \
         daemon serves what is open until it is closed"
    ));
    text
}
