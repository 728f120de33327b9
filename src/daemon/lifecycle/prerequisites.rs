//! What a mount needs of the system.

use std::env;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::daemon::config::Config;
use crate::daemon::error::Error;
use crate::daemon::sys;

/// The device through which the kernel talks to daemons.
const DEVICE: &str = "/dev/fuse";

/// Where the helper's rules are.
const HELPER_CONFIG: &str = "/etc/fuse.conf";

/// The key whose default depends on the user.
const ALLOW_OTHER: &str = "mount.allow_other";

/// Checks that this user can mount here at all.
pub fn check() -> Result<(), Error> {
    check_device(Path::new(DEVICE))?;
    if sys::effective_uid() != 0 && find_helper().is_none() {
        return Err(Error::Refused(String::from(
            "a user other than root needs the program fusermount3 to mount, and it is not \
             installed: apt-get install fuse3, or run as root",
        )));
    }
    Ok(())
}

fn check_device(device: &Path) -> Result<(), Error> {
    let Err(error) = OpenOptions::new().read(true).write(true).open(device) else { return Ok(()) };
    let shown = device.display();
    Err(Error::Refused(match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => format!(
            "{shown} is missing: load the kernel's module with modprobe fuse; in a container, \
             start it with --device {shown} --cap-add SYS_ADMIN"
        ),
        Some(libc::EACCES | libc::EPERM) => format!(
            "no permission to open {shown}: run as root, or let this user open it (chmod 666 \
             {shown}); in a container, start it with --device {shown} --cap-add SYS_ADMIN"
        ),
        _ => format!("cannot open {shown}: {error}"),
    }))
}

/// What to say when the mount itself was refused.
pub fn explain_mount_failure(error: &io::Error, mountpoint: &Path) -> Error {
    let shown = mountpoint.display();
    Error::Refused(match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => format!(
            "no permission to mount on {shown}: run as root with the capability CAP_SYS_ADMIN (in \
             a container: --cap-add SYS_ADMIN --device {DEVICE}), or as a user who owns the \
             directory, with fusermount3 installed"
        ),
        Some(libc::ENOENT) if find_helper().is_none() => format!(
            "no permission to mount on {shown} directly, and the program fusermount3 is not \
             installed: apt-get install fuse3, or run with the capability CAP_SYS_ADMIN"
        ),
        _ => format!("cannot mount on {shown}: {error}"),
    })
}

/// Whether other users may use the mount.
///
/// Only root may allow that without the word of the system's administrator. Where it is merely
/// the default, the mount goes on without it; where somebody asked for it, that is an error.
pub fn allow_other(config: &Config) -> Result<bool, Error> {
    let wanted = config.settings.allow_other;
    if !wanted || sys::effective_uid() == 0 {
        return Ok(wanted);
    }
    let rules = fs::read_to_string(HELPER_CONFIG).unwrap_or_default();
    decide_allow_other(&rules, config)
}

fn decide_allow_other(rules: &str, config: &Config) -> Result<bool, Error> {
    if rules.lines().any(|line| line.trim() == "user_allow_other") {
        return Ok(true);
    }
    match config.origin(ALLOW_OTHER) {
        None => Ok(false),
        Some(origin) => Err(Error::Refused(format!(
            "{origin}: {ALLOW_OTHER} = true needs the line user_allow_other in {HELPER_CONFIG} for a \
             user other than root: add it, run as root, or set it to false"
        ))),
    }
}

/// The program that mounts and unmounts for users other than root.
pub fn find_helper() -> Option<PathBuf> {
    if let Some(path) = env::var_os("FUSERMOUNT_PATH") {
        return Some(PathBuf::from(path));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> =
        env::split_paths(&path).chain(["/usr/bin", "/bin", "/sbin"].map(PathBuf::from)).collect();
    ["fusermount3", "fusermount"]
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::daemon::config::Sources;

    #[test]
    fn a_missing_device_says_what_to_do() {
        let error = check_device(Path::new("/nonexistent/fuse")).unwrap_err().to_string();
        assert!(error.contains("modprobe fuse"), "{error}");
        assert!(check_device(Path::new("/dev/null")).is_ok());
    }

    #[test]
    fn allow_other_as_an_ordinary_user() {
        let default = Config::load(&Sources::default()).unwrap();
        let asked = Sources { options: vec!["allow_other".into()], ..Sources::default() };
        let asked = Config::load(&asked).unwrap();
        assert!(!decide_allow_other("# user_allow_other\n", &default).unwrap());
        assert!(decide_allow_other("mount_max = 9\n user_allow_other \n", &asked).unwrap());
        let error = decide_allow_other("", &asked).unwrap_err().to_string();
        assert!(error.starts_with("option -o allow_other: mount.allow_other = true needs"), "{error}");
    }
}
