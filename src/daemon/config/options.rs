//! The `-o` options of the command line: keys of the configuration and plain mount options.

use super::builder::Builder;
use super::error::{Problem, unknown_key};
use super::keys::find;
use super::origin::Origin;
use crate::fs::Atime;

/// Mount options that are not keys of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountFlags {
    /// `ro`: nothing can be changed through this mount.
    pub read_only: bool,
    /// `remount`: a mount that is there gets these options.
    pub remount: bool,
    /// Which reads are noted in access times.
    pub atime: Atime,
    /// `nodiratime`: listings of directories are not.
    pub no_directory_atime: bool,
    /// Options that the kernel takes as they are, such as `nosuid`.
    pub kernel: Vec<String>,
}

/// The kernel's options: what turns a thing off and what turns it on again.
const KERNEL: [(&str, &str); 3] = [("nodev", "dev"), ("nosuid", "suid"), ("noexec", "exec")];

/// What fstab(5) tells mount(8) and not the filesystem, and what the mount table shows of every
/// FUSE mount: mount(8) hands both on.
const FOR_OTHERS: &[&str] = &[
    "defaults",
    "auto",
    "noauto",
    "user",
    "nouser",
    "users",
    "owner",
    "group",
    "nofail",
    "_netdev",
    "comment",
    "default_permissions",
    "user_id",
    "group_id",
];

/// All plain options, for the message about an unknown one.
const PLAIN: &str = "ro, rw, allow_other, noallow_other, nodev, nosuid, noexec and their \
                     opposites, noatime, relatime, strictatime, nodiratime, diratime, remount";

/// Reads the values of all `-o` options, in order.
pub fn read(builder: &mut Builder, options: &[String]) -> MountFlags {
    let mut flags = MountFlags::default();
    for item in options.iter().flat_map(|list| split(list)) {
        one(builder, &mut flags, item);
    }
    flags
}

fn one(builder: &mut Builder, flags: &mut MountFlags, item: &str) {
    let origin = Origin::Option(item.to_owned());
    let (name, value) = match item.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value)),
        None => (item.trim(), None),
    };
    match (name, value) {
        ("", None) => {}
        ("ro", None) => flags.read_only = true,
        ("rw", None) => flags.read_only = false,
        ("remount", None) => flags.remount = true,
        ("noatime", None) => set_atime(flags, Atime::Never),
        ("relatime" | "atime", None) => set_atime(flags, Atime::Relative),
        ("strictatime", None) => set_atime(flags, Atime::Strict),
        ("nodiratime", None) => flags.no_directory_atime = true,
        ("diratime", None) => flags.no_directory_atime = false,
        (name, _) if FOR_OTHERS.contains(&name) || name.starts_with("x-") || name.starts_with("X-") => {}
        ("allow_other" | "noallow_other", None) => {
            if let Some(key) = find("mount.allow_other") {
                builder.set_text(key, origin, if name == "allow_other" { "true" } else { "false" });
            }
        }
        (name, None) if KERNEL.iter().any(|(off, on)| *off == name || *on == name) => {
            for (off, on) in KERNEL {
                if off == name || on == name {
                    flags.kernel.retain(|other| other != off && other != on);
                }
            }
            flags.kernel.push(name.to_owned());
        }
        (name, Some(value)) => match find(name) {
            Some(key) => builder.set_text(key, origin, value),
            None => builder.problem(unknown_key(origin, name)),
        },
        (name, None) => match find(name) {
            // As with mount options elsewhere, the name of a flag alone turns it on.
            Some(key) => builder.set_text(key, origin, "true"),
            None if name.contains('.') => builder.problem(unknown_key(origin, name)),
            None => builder.problem(Problem {
                origin,
                text: format!(
                    "unknown mount option {name}; allowed: {PLAIN}, and KEY=VALUE for every key \
                     that `threadfs config` prints"
                ),
            }),
        },
    }
}

fn set_atime(flags: &mut MountFlags, atime: Atime) {
    flags.atime = atime;
    // The mount table is to tell it.
    flags.kernel.retain(|other| other != "noatime");
    if atime == Atime::Never {
        flags.kernel.push(String::from("noatime"));
    }
}

/// Splits at commas, but not inside brackets, braces or quotes, so that lists and globs can be
/// given. A single quote counts inside brackets only: it is a fair character of a name.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut quote, mut start) = (0u32, None, 0);
    for (at, char) in list.char_indices() {
        match (char, quote) {
            (char, Some(open)) if char == open => quote = None,
            (_, Some(_)) => {}
            ('"', None) => quote = Some(char),
            ('\'', None) if depth > 0 => quote = Some(char),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                parts.push(list.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list.get(start..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_split_outside_of_brackets_only() {
        assert_eq!(split("a=1,b"), ["a=1", "b"]);
        assert_eq!(split(r#"p=["a,b", "c"],ro"#), [r#"p=["a,b", "c"]"#, "ro"]);
        assert_eq!(split("p=threads/*/*.{json,yaml},ro"), ["p=threads/*/*.{json,yaml}", "ro"]);
        assert_eq!(split(r#"p=['a"b', 'c'],ro"#), [r#"p=['a"b', 'c']"#, "ro"]);
        assert_eq!(split("p=it's/*,ro"), ["p=it's/*", "ro"]);
        assert_eq!(split(""), [""]);
        assert_eq!(split("a,,b]"), ["a", "", "b]"]);
    }

    #[test]
    fn plain_options() {
        let mut builder = Builder::default();
        let given = ["ro,nosuid,nodev".to_owned(), "noallow_other,suid".to_owned()];
        let flags = read(&mut builder, &given);
        assert!(builder.problems.is_empty(), "{:?}", builder.problems);
        assert!(flags.read_only);
        assert_eq!(flags.kernel, ["nodev", "suid"]);
        assert!(!builder.settings.allow_other);
        assert!(!read(&mut builder, &["ro,rw".to_owned()]).read_only);
        let flags = read(&mut builder, &["noatime".to_owned()]);
        assert_eq!((flags.atime, &flags.kernel[..]), (Atime::Never, &["noatime".to_owned()][..]));
        let flags = read(&mut builder, &["noatime,strictatime".to_owned()]);
        assert!(flags.atime == Atime::Strict && flags.kernel.is_empty());
        assert_eq!(read(&mut builder, &["strictatime,atime".to_owned()]).atime, Atime::Relative);
    }
    #[test]
    fn what_mount_8_hands_on() {
        let mut builder = Builder::default();
        let given = ["defaults,user,nofail,x-systemd.automount,comment=a,nodiratime,remount".to_owned()];
        let flags = read(&mut builder, &given);
        assert!(builder.problems.is_empty(), "{:?}", builder.problems);
        assert!(flags.remount && flags.no_directory_atime && flags.kernel.is_empty());
        assert!(!read(&mut builder, &["nodiratime,diratime".to_owned()]).no_directory_atime);
    }
}
