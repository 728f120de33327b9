//! The thread that a command is about, and what several of those commands show.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use super::text::field;
use crate::daemon::Error;
use crate::daemon::thread::Thread;

/// Which thread.
#[derive(Debug, clap::Args)]
pub struct Target {
    /// A path of a thread or in one, or a thread's id; / or the mountpoint for the whole home.
    ///
    /// An id is looked up in the mount of --mount, else in that of the current directory, else in that of
    /// $DEER_FLOW_HOME.
    thread: OsString,
    /// The mount in which to look for the id.
    #[arg(long, value_name = "MOUNTPOINT")]
    mount: Option<PathBuf>,
}

impl Target {
    /// Finds it.
    pub fn find(&self) -> Result<Thread, Error> {
        Thread::find(&self.thread, self.mount.as_deref())
    }
}

/// `+3 -1 ~2` of an entry with counts.
pub fn counts(entry: &Value) -> String {
    let Some(counts) = entry.get("counts") else { return String::from("-") };
    format!("+{} -{} ~{}", field(counts, "added"), field(counts, "removed"), field(counts, "changed"))
}

/// The process that something was done for.
pub fn who(entry: &Value) -> String {
    match (entry.get("pid").and_then(Value::as_u64).unwrap_or(0), field(entry, "command")) {
        (0, command) => command,
        (pid, command) if command == "-" => pid.to_string(),
        (pid, command) => format!("{pid} {command}"),
    }
}

/// One changed path: how, where, what, and the sizes.
pub fn change_line(change: &Value) -> String {
    let text = |name| field(change, name);
    let number = |name: &str| change.get(name).and_then(Value::as_u64);
    let mark = match change.get("change").and_then(Value::as_str) {
        Some("added") => '+',
        Some("removed") => '-',
        _ => '~',
    };
    let mut notes: Vec<String> = Vec::new();
    if change.get("from").is_some() {
        notes.push(format!("renamed from {}", text("from")));
    }
    if let Some(what) = change.get("what").and_then(Value::as_array) {
        notes.extend(what.iter().filter_map(Value::as_str).map(str::to_owned));
    }
    if change.get("kind_before").is_some() {
        notes.push(format!("{} to {}", text("kind_before"), text("kind")));
    } else if text("kind") != "file" {
        notes.push(text("kind"));
    }
    match (number("before"), number("after")) {
        (Some(before), Some(after)) if before != after => notes.push(format!("{before} to {after} bytes")),
        (None, Some(size)) | (Some(size), None) if mark != '~' => notes.push(format!("{size} bytes")),
        _ => {}
    }
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
    format!("{mark} {}{notes}", text("path"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines() {
        let added = json!({"path": "a", "change": "added", "kind": "file", "before": null, "after": 3, "what": []});
        assert_eq!(change_line(&added), "+ a  (3 bytes)");
        let renamed = json!({"path": "b", "change": "renamed", "from": "a", "kind": "file", "before": 1, "after": 2,
            "what": ["content", "mode"]});
        assert_eq!(change_line(&renamed), "~ b  (renamed from a, content, mode, 1 to 2 bytes)");
        let gone = json!({"path": "d", "change": "removed", "kind": "directory", "before": null, "after": null});
        assert_eq!(change_line(&gone), "- d  (directory)");
        assert_eq!(who(&json!({"pid": 7, "command": "x"})), "7 x");
        assert_eq!(who(&json!({"pid": 0, "command": ""})), "-");
        assert_eq!(counts(&json!({"counts": {"added": 1, "removed": 0, "changed": 2}})), "+1 -0 ~2");
    }
}
