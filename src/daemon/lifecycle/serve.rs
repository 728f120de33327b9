//! The daemon proper: opens the store, mounts, serves until unmounted, closes.

use std::env;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::detach::detach;
use super::prerequisites::explain_mount_failure;
use super::shutdown::Shutdown;
use super::ticker::Ticker;
use crate::daemon::config::Config;
use crate::daemon::control;
use crate::daemon::error::Error;
use crate::daemon::logging::{self, Destination};
use crate::daemon::mountinfo;
use crate::daemon::sys;
use crate::daemon::virtual_files::{self, Identity};
use crate::engine::{self, Engine, EngineOptions, StoreSpec};
use crate::fs::{Atime, Fs, FsOptions};
use crate::fuse::{MountOptions, Session};
use crate::store::Store;

/// How long the store may stay in use after its mount is gone: a daemon that was killed lets go
/// of the mount first, and umount(8) does not wait for the daemon.
const LETTING_GO: Duration = Duration::from_secs(10);

/// The pause between two attempts to open it then.
const RETRY: Duration = Duration::from_millis(20);

/// All that is needed to serve; every path is absolute.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The store.
    pub spec: StoreSpec,
    /// The mountpoint.
    pub mountpoint: PathBuf,
    /// Whether a dead mount was cleared from it.
    pub was_dead: bool,
    /// The configuration.
    pub config: Config,
    /// Whether other users may use the mount.
    pub allow_other: bool,
    /// The log file.
    pub log_file: Option<PathBuf>,
    /// Whether this process keeps its terminal.
    pub foreground: bool,
}

/// Serves until the mount is gone. `ready` is called when the mount answers; its error ends
/// the mount again.
pub fn serve(plan: &Plan, ready: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    start_log(plan)?;
    let shutdown = Shutdown::watch().map_err(Error::system("prepare for signals"))?;
    prepare_process();
    tell_about(plan);
    let fs = open(plan)?;
    let session = mount(plan, &fs)?;
    shutdown.arm(plan.mountpoint.clone(), &fs);
    let pid = std::process::id();
    let (store, at) = (&plan.spec, plan.mountpoint.display());
    log::info!("mounted store={store} mountpoint={at} pid={pid} version={}", env!("CARGO_PKG_VERSION"));
    let result = run(plan, &fs, session, ready);
    shutdown.finish(&fs);
    log::info!("ended store={store} mountpoint={at} pid={pid}");
    result
}

fn run(plan: &Plan, fs: &Arc<Fs>, session: Session, ready: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let started = Ticker::start(Arc::clone(fs)).map_err(Error::system("start a thread"));
    let ticker = match started.and_then(|ticker| settle(plan, ready).map(|()| ticker)) {
        Ok(ticker) => ticker,
        Err(error) => {
            if let Err(error) = detach(&plan.mountpoint, true) {
                log::error!("cannot detach {}: {error}", plan.mountpoint.display());
            }
            return Err(error);
        }
    };
    let result = match session.run() {
        // The kernel has closed the connection, which is how an unmount shows.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ECONNABORTED)) => Ok(()),
        result => result.map_err(Error::system(format!("serve {}", plan.mountpoint.display()))),
    };
    ticker.stop();
    result
}

/// What is left to do between the mount and the word that it is ready.
fn settle(plan: &Plan, ready: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    if !plan.foreground {
        // Before the report: whoever reads the waiting command's output to its end must not
        // wait for the daemon.
        logging::take_over_stdio().map_err(Error::system("leave the terminal"))?;
    }
    ready()
}

fn start_log(plan: &Plan) -> Result<(), Error> {
    let (destination, shown) = match &plan.log_file {
        Some(path) => (Destination::File(path.clone()), path.display().to_string()),
        None if plan.foreground => (Destination::Stderr, String::from("on standard error")),
        None => (Destination::Syslog, String::from("of the system")),
    };
    logging::install(plan.config.settings.log_level, destination)
        .map_err(Error::system(format!("open the log {shown}")))
}

/// What the checks did that a user may not expect.
fn tell_about(plan: &Plan) {
    let shown = plan.mountpoint.display();
    if plan.was_dead {
        log::warn!("{shown} was a dead mount: an earlier daemon ended without unmounting it");
    }
    if plan.config.settings.allow_other && !plan.allow_other {
        log::warn!("{shown} is for this user only: mount.allow_other needs user_allow_other in /etc/fuse.conf");
    }
}

/// Settings of the process that a filesystem needs whoever started it. None is worth failing.
fn prepare_process() {
    // Modes come from the kernel with each request, already masked.
    sys::set_umask(0);
    let note = |what: &str, error: &dyn Display| log::warn!("cannot {what}: {error}");
    if let Err(error) = env::set_current_dir("/") {
        note("leave the working directory", &error);
    }
    if let Err(error) = sys::raise_open_files() {
        note("raise the limit on open files", &error);
    }
}

fn open(plan: &Plan) -> Result<Arc<Fs>, Error> {
    let path = plan.spec.to_string();
    let options = EngineOptions {
        memory_bytes: plan.config.settings.memory_bytes,
        holder: format!("threadfs mounted on {}", plan.mountpoint.display()),
    };
    let engine = open_engine(plan, &options)?;
    let store = Store::open(engine).map_err(|source| Error::Store { path: path.clone(), source })?;
    let mount = &plan.config.mount;
    let atime = if mount.read_only { Atime::Never } else { mount.atime };
    let options = FsOptions { atime, directory_atime: !mount.no_directory_atime, ..plan.config.settings.fs.clone() };
    let fs = Fs::new(store, options).map_err(|source| Error::Filesystem { path: path.clone(), source })?;
    let identity = Identity {
        store: path,
        mountpoint: plan.mountpoint.display().to_string(),
        config_file: plan.config.file.as_ref().map(|file| file.display().to_string()),
        since: Instant::now(),
    };
    virtual_files::register(&fs, &plan.config, identity);
    Ok(fs)
}

/// Opens the engine. A store that is in use and not mounted is about to be free, which is waited for.
fn open_engine(plan: &Plan, options: &EngineOptions) -> Result<Arc<dyn Engine>, engine::Error> {
    let until = Instant::now() + LETTING_GO;
    loop {
        match engine::open(&plan.spec, options) {
            Err(engine::Error::InUse { .. }) if Instant::now() < until && !is_mounted(&plan.spec) => {
                thread::sleep(RETRY)
            }
            result => return result,
        }
    }
}

/// Whether a store is mounted where this process can see it.
fn is_mounted(spec: &StoreSpec) -> bool {
    let source = spec.to_string();
    // Whoever cannot be asked for gets the error at once.
    mountinfo::of_process("self")
        .map_or(true, |mounts| mounts.iter().any(|mount| mount.kind == control::KIND && mount.source == source))
}

fn mount(plan: &Plan, fs: &Arc<Fs>) -> Result<Session, Error> {
    let options = MountOptions {
        mountpoint: plan.mountpoint.clone(),
        source: plan.spec.to_string(),
        threads: plan.config.settings.worker_threads(),
        allow_other: plan.allow_other,
        read_only: plan.config.mount.read_only,
        extra: plan.config.mount.kernel.clone(),
    };
    Session::mount(Arc::clone(fs), &options).map_err(|error| explain_mount_failure(&error, &plan.mountpoint))
}
