//! Other mount options for a mount that is there: those that the kernel keeps.

use std::path::Path;

use crate::daemon::config::MountFlags;
use crate::daemon::control;
use crate::daemon::error::Error;
use crate::daemon::sys;

/// What is in force without a word, as with every FUSE mount.
const DEFAULT: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV;

/// Gives a mount the plain options; the keys of the configuration stay what they are.
pub fn remount(given: &Path, flags: &MountFlags) -> Result<(), Error> {
    let (path, _) = control::find(given)?;
    sys::remount(&path, of(flags)).map_err(Error::system(format!("remount {}", given.display())))
}

fn of(flags: &MountFlags) -> libc::c_ulong {
    let mut all = if flags.read_only { DEFAULT | libc::MS_RDONLY } else { DEFAULT };
    for option in &flags.kernel {
        match option.as_str() {
            "nosuid" => all |= libc::MS_NOSUID,
            "suid" => all &= !libc::MS_NOSUID,
            "nodev" => all |= libc::MS_NODEV,
            "dev" => all &= !libc::MS_NODEV,
            "noexec" => all |= libc::MS_NOEXEC,
            "noatime" => all |= libc::MS_NOATIME,
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_as_flags() {
        assert_eq!(of(&MountFlags::default()), libc::MS_NOSUID | libc::MS_NODEV);
        let kernel = ["suid", "dev", "noexec", "noatime"].map(String::from).to_vec();
        let flags = MountFlags { read_only: true, kernel, ..MountFlags::default() };
        assert_eq!(of(&flags), libc::MS_RDONLY | libc::MS_NOEXEC | libc::MS_NOATIME);
    }
}
