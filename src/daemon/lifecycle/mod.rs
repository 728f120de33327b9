//! The life of a mount: checks, going to the background, serving, ending.

mod background;
mod detach;
mod holders;
pub mod mountpoint;
mod prerequisites;
mod remount;
mod serve;
mod shutdown;
mod store_path;
mod ticker;
mod umount;

use std::io::Write as _;
use std::path::PathBuf;

pub use umount::{Unmounted, umount};

use super::config::{Config, Sources};
use super::error::Error;
use super::sys;
use crate::engine::StoreSpec;
use background::Side;
use mountpoint::Checked;
use serve::Plan;

/// What `threadfs mount` was asked to do.
#[derive(Debug, Clone)]
pub struct MountRequest {
    /// The store, as typed.
    pub store: String,
    /// The mountpoint, as typed.
    pub mountpoint: PathBuf,
    /// Whether to stay in the foreground.
    pub foreground: bool,
    /// Whether a mountpoint that is not empty is fine.
    pub nonempty: bool,
    /// Whether to say nothing when it is done.
    pub quiet: bool,
    /// Where the log goes instead of to standard error or the system's log.
    pub log_file: Option<PathBuf>,
    /// Where the configuration comes from.
    pub sources: Sources,
}

/// Mounts, and returns when the mount is ready; in the foreground, when it has ended.
///
/// # Errors
/// Nothing is mounted then, and the store is as it was.
pub fn mount(request: &MountRequest) -> Result<(), Error> {
    let config = Config::load(&request.sources)?;
    if config.mount.remount {
        return remount::remount(&request.mountpoint, &config.mount);
    }
    let spec = StoreSpec::parse(&request.store)?;
    prerequisites::check()?;
    let allow_other = prerequisites::allow_other(&config)?;
    // Held until the mount is ready: of two commands for one mountpoint the second is refused.
    let claim = mountpoint::claim(&request.mountpoint)?;
    let Checked { path, was_dead } = mountpoint::check(&request.mountpoint, request.nonempty)?;
    let spec = store_path::prepare(spec, &path)?;
    let log_file = request.log_file.as_ref().map(|path| {
        // A path that cannot be made absolute is reported when it is opened.
        std::path::absolute(path).unwrap_or_else(|_| path.clone())
    });
    let foreground = request.foreground;
    let plan = Plan { spec, mountpoint: path, was_dead, config, allow_other, log_file, foreground };
    if request.foreground {
        return serve::serve(&plan, || {
            drop(claim);
            Ok(())
        });
    }
    match background::split().map_err(Error::system("start the daemon"))? {
        Side::Parent(waiting) => {
            let pid = waiting.wait()?;
            if !request.quiet {
                announce(&plan, pid);
            }
            drop(claim);
            Ok(())
        }
        Side::Child(reporter) => {
            // The descriptor was closed with all others that the daemon does not need.
            std::mem::forget(claim);
            sys::exit_now(run_in_background(&plan, reporter))
        }
    }
}

/// The one line that the waiting command prints.
fn announce(plan: &Plan, pid: u32) {
    let line = format!("threadfs: {} mounted on {}, pid {pid}\n", plan.spec, plan.mountpoint.display());
    // Nobody may be reading, which changes nothing about the mount.
    std::io::stdout().write_all(line.as_bytes()).unwrap_or_default();
}

/// The child's part; its exit status.
fn run_in_background(plan: &Plan, reporter: background::Reporter) -> i32 {
    let mut reporter = Some(reporter);
    let result = sys::new_session().map_err(Error::system("start a session")).and_then(|()| {
        serve::serve(plan, || match reporter.take() {
            Some(reporter) => reporter.ready().map_err(Error::system("report to the waiting command")),
            None => Ok(()),
        })
    });
    match (result, reporter) {
        (Ok(()), _) => 0,
        (Err(error), Some(reporter)) => {
            // When the waiting command is gone as well, nobody is left to be told.
            reporter.failed(&error.to_string()).unwrap_or_default();
            1
        }
        (Err(error), None) => {
            log::error!("{error}");
            1
        }
    }
}
