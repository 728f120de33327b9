//! A FUSE filesystem that keeps everything in memory and stores nothing: the floor
//! that a filesystem on this kernel and this FUSE library can reach. It mounts with
//! the settings of threadfs, so that the benchmark compares stores and not mounts.
//!
//!     nullfs MOUNTPOINT [THREADS]
//!
//! It stays in the foreground; SIGTERM or SIGINT unmounts.

mod adapter;
mod tree;

use std::io;

use fuser::{Config, MountOption, Session, SessionACL};

fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let Some(mountpoint) = args.next() else {
        eprintln!("usage: nullfs MOUNTPOINT [THREADS]");
        std::process::exit(2);
    };
    let threads = match args.next() {
        None => 2,
        Some(text) => text
            .to_str()
            .and_then(|t| t.parse().ok())
            .filter(|&n| n > 0)
            .ok_or_else(|| io::Error::other("THREADS must be a positive number"))?,
    };

    let signals = block_signals()?;
    let mut config = Config::default();
    config.acl = SessionACL::All;
    config.n_threads = Some(threads);
    config.mount_options = vec![
        MountOption::FSName("nullfs".into()),
        MountOption::Subtype("nullfs".into()),
        MountOption::DefaultPermissions,
    ];
    let mut session = Session::new(adapter::NullFs::new(), mountpoint, &config)?;
    let mut unmounter = session.unmount_callable();
    std::thread::spawn(move || {
        wait_for(&signals);
        if let Err(error) = unmounter.unmount() {
            eprintln!("nullfs: unmount: {error}");
        }
    });
    session.run()
}

/// Blocks the two signals in this thread and in all that it starts later.
fn block_signals() -> io::Result<libc::sigset_t> {
    // SAFETY: the set is initialised by sigemptyset before anything reads it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGINT);
        match libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) {
            0 => Ok(set),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
}

fn wait_for(signals: &libc::sigset_t) {
    let mut received = 0;
    // SAFETY: both pointers are valid for the call.
    unsafe { libc::sigwait(signals, &mut received) };
}
