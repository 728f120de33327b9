//! Who a process is, for people, and what it may do beyond its user and group.

use super::attr::Caller;

/// Numbers of include/uapi/linux/capability.h, capabilities(7).
const CAP_FSETID: u32 = 4;
const CAP_SYS_ADMIN: u32 = 21;

/// The command line of a process, up to `longest` bytes of it; of a process without one its name;
/// empty when it is gone.
pub(super) fn command_of(pid: u32, longest: usize) -> String {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let mut line = read("cmdline");
    while line.last() == Some(&0) {
        line.pop();
    }
    line.truncate(longest);
    let line = String::from_utf8_lossy(&line).replace(['\0', '\n'], " ");
    if line.is_empty() { String::from_utf8_lossy(&read("comm")).trim_end().to_string() } else { line }
}

impl Caller {
    /// Whether set-user-ID and set-group-ID bits stay on what it changes: CAP_FSETID. Looked up in /proc,
    /// so only to be asked where such bits are.
    pub(super) fn keeps_setid(self) -> bool {
        self.is_capable(CAP_FSETID)
    }

    /// Whether it may give a file of this group the set-group-ID bit.
    pub(super) fn may_give_setgid(self, gid: u32) -> bool {
        self.gid == gid || self.is_in_group(gid) || self.keeps_setid()
    }

    /// Whether it sees trusted attributes, xattr(7).
    pub fn sees_trusted(self) -> bool {
        self.is_capable(CAP_SYS_ADMIN)
    }

    fn is_in_group(self, gid: u32) -> bool {
        let groups = self.status("Groups:").unwrap_or_default();
        groups.split_ascii_whitespace().any(|group| group.parse() == Ok(gid))
    }

    /// Whether it has a capability over files, as far as can be seen; else root has it.
    fn is_capable(self, capability: u32) -> bool {
        let effective = self.status("CapEff:").and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
        match effective {
            Some(bits) => bits & 1 << capability != 0 && self.is_in_this_user_namespace(),
            None => self.uid == 0,
        }
    }

    /// In another one, capabilities hold for what belongs to that.
    fn is_in_this_user_namespace(self) -> bool {
        let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/user")).ok();
        of("self") == of(&self.pid.to_string())
    }

    /// A field of its status, which can be read at all times without waiting.
    fn status(self, name: &str) -> Option<String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        status.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
    }
}
