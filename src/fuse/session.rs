//! Mounting, and serving until the mount is gone.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use fuser::{Config, MountOption, SessionACL};

use super::adapter::Adapter;
use super::device;
use super::notify::KernelNotifier;
use crate::fs::Fs;

/// The filesystem's type in the mount table is `fuse.` and this.
const SUBTYPE: &str = "threadfs";

/// How to mount.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// Where.
    pub mountpoint: PathBuf,
    /// What the mount table shows as the source: the store.
    pub source: String,
    /// Threads that serve requests.
    pub threads: usize,
    /// Whether users other than the mounting one may use it.
    pub allow_other: bool,
    /// Whether the kernel refuses all changes.
    pub read_only: bool,
    /// Further options of mount(8) that FUSE knows, such as `nodev`.
    pub extra: Vec<String>,
}

/// A mount that is being served.
pub struct Session {
    ended: mpsc::Receiver<()>,
}

impl Session {
    /// Mounts, and serves in background threads from when it returns: the kernel has agreed on
    /// the protocol by then.
    ///
    /// # Errors
    /// What mount(2) or fusermount3 says.
    pub fn mount(fs: Arc<Fs>, options: &MountOptions) -> io::Result<Session> {
        let mut config = Config::default();
        config.acl = if options.allow_other { SessionACL::All } else { SessionACL::Owner };
        config.n_threads = Some(options.threads.max(1));
        config.mount_options = vec![
            MountOption::FSName(options.source.clone()),
            // The crate's own option for this does not reach the kernel when root mounts.
            MountOption::CUSTOM(format!("subtype={SUBTYPE}")),
            MountOption::DefaultPermissions,
        ];
        if options.read_only {
            config.mount_options.push(MountOption::RO);
        }
        config.mount_options.extend(options.extra.iter().map(|option| known_option(option)));
        let (adapter, ended) = Adapter::new(Arc::clone(&fs));
        let session = fuser::Session::new(adapter, &options.mountpoint, &config)?;
        fs.set_notifier(Arc::new(KernelNotifier::new(session.notifier())));
        match device::of_mount(&options.mountpoint) {
            Some((major, minor)) => fs.set_device(major, minor),
            None => log::warn!("{} is not in the mount table, so no locks show", options.mountpoint.display()),
        }
        let background = session.spawn()?;
        // Dropping it would unmount whatever is at the mountpoint by then, ours or not. The mount
        // ends when the kernel says so; the adapter hears of it and tells `ended`.
        std::mem::forget(background);
        Ok(Session { ended })
    }

    /// Returns when the mount is gone.
    ///
    /// # Errors
    /// None at present: how a mount ends, the log tells.
    pub fn run(self) -> io::Result<()> {
        // An error means that the sender is gone, which is an end too.
        self.ended.recv().or(Ok(()))
    }
}

fn known_option(option: &str) -> MountOption {
    match option {
        "nodev" => MountOption::NoDev,
        "dev" => MountOption::Dev,
        "nosuid" => MountOption::NoSuid,
        "suid" => MountOption::Suid,
        "noexec" => MountOption::NoExec,
        "exec" => MountOption::Exec,
        "noatime" => MountOption::NoAtime,
        other => MountOption::CUSTOM(other.to_string()),
    }
}
