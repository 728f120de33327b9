//! Who a process is, for people.

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
