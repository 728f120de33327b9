//! `threadfs umount`.

use std::path::PathBuf;

use super::Output;
use crate::daemon::{Unmounted, umount};

/// Unmount; returns when the daemon has ended and the store is free.
///
/// Clears a dead mount as well, one whose daemon was killed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that is mounted on.
    mountpoint: PathBuf,
    /// Take the mount out of the tree at once, even in use; the daemon serves what is open until
    /// it is closed.
    #[arg(short, long)]
    lazy: bool,
}

/// Unmounts.
pub fn run(args: &Args) -> Output {
    let shown = args.mountpoint.display();
    let text = match umount(&args.mountpoint, args.lazy)? {
        Unmounted::Done => String::new(),
        Unmounted::DeadCleared => format!("{shown} was a dead mount and is cleared.\n"),
        Unmounted::Detached => {
            format!("{shown} is detached; its daemon ends when what is open is closed.\n")
        }
        Unmounted::OutOfSight => format!(
            "{shown} is unmounted; its daemon cannot be seen from here and may still be closing \
             the store.\n"
        ),
    };
    Ok(text.into_bytes())
}
