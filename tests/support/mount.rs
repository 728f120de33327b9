//! A mount of the real program, unmounted when it is dropped, whatever happens.

use std::cell::Cell;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::actor::Actor;
use super::command::{Done, run, threadfs};
use super::python::run_python;
use super::wait::exited;

/// How long a command of the program may take.
const COMMAND: Duration = Duration::from_secs(60);

/// After this time the daemon is killed, so that a test that hangs on it fails.
fn watchdog_time() -> Duration {
    Duration::from_secs(super::scaled(240, 21_600))
}

/// How to mount.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    options: Vec<String>,
    config: Option<String>,
    arguments: Vec<String>,
    memory: bool,
    tolerates_errors: bool,
}

impl Builder {
    /// A `-o` option.
    pub fn option(mut self, option: &str) -> Builder {
        self.options.push(option.into());
        self
    }

    /// A configuration file of this text.
    pub fn config(mut self, text: &str) -> Builder {
        self.config = Some(text.into());
        self
    }

    /// A further argument.
    pub fn argument(mut self, argument: &str) -> Builder {
        self.arguments.push(argument.into());
        self
    }

    /// On the engine that keeps nothing.
    pub fn memory(mut self) -> Builder {
        self.memory = true;
        self
    }

    /// Errors in the log do not fail the test.
    pub fn tolerating_errors(mut self) -> Builder {
        self.tolerates_errors = true;
        self
    }

    /// Mounts.
    pub fn mount(self) -> Mount {
        let mount = self.prepare();
        mount.mount_again();
        mount
    }

    /// Makes the directories and does not mount yet.
    pub fn prepare(self) -> Mount {
        let dir = tempfile::Builder::new().prefix("threadfs-test-").tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (path, store) = (root.join("mnt"), root.join("store"));
        fs::create_dir(&path).unwrap();
        // Other users have to get at the mount.
        fs::set_permissions(&root, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        if let Some(text) = &self.config {
            fs::write(root.join("threadfs.toml"), text).unwrap();
        }
        let daemon = Arc::new(AtomicU32::new(0));
        let watchdog = watch(Arc::clone(&daemon));
        Mount { how: self, path, store, log: root.join("log"), daemon, mounted: Cell::new(false), watchdog, dir }
    }
}

/// A mount, or the place for one.
pub struct Mount {
    how: Builder,
    /// The mountpoint.
    pub path: PathBuf,
    /// The store.
    pub store: PathBuf,
    /// The log file.
    pub log: PathBuf,
    daemon: Arc<AtomicU32>,
    mounted: Cell<bool>,
    #[expect(dead_code, reason = "dropping it ends the watch")]
    watchdog: Sender<()>,
    #[expect(dead_code, reason = "dropping it removes the directory")]
    dir: TempDir,
}

/// A thread that kills the daemon if it is still there after a long time.
fn watch(daemon: Arc<AtomicU32>) -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        if receiver.recv_timeout(watchdog_time()) == Err(RecvTimeoutError::Timeout) {
            eprintln!("the test takes over {:?}: killing its daemon", watchdog_time());
            kill(daemon.load(Ordering::SeqCst), libc::SIGKILL);
        }
    });
    sender
}

/// Sends a signal to a daemon that a test started.
fn kill(pid: u32, signal: libc::c_int) {
    if pid != 0 {
        // SAFETY: the call takes no pointers.
        unsafe { libc::kill(pid as libc::pid_t, signal) };
    }
}

fn detach(path: &Path, flags: libc::c_int) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with NUL.
    if unsafe { libc::umount2(path.as_ptr(), flags) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl Mount {
    /// A mount with the default settings and a new store.
    pub fn new() -> Mount {
        Builder::default().mount()
    }

    /// A mount with `-o` options.
    pub fn with(options: &[&str]) -> Mount {
        options.iter().fold(Builder::default(), |builder, option| builder.option(option)).mount()
    }

    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A mount with a thread `t`, and its document with this content.
    pub fn with_document(content: &str) -> Mount {
        let mount = Mount::new();
        mount.make("threads/t");
        fs::write(mount.at(super::DOC), content).unwrap();
        mount
    }

    /// A path on the mount.
    pub fn at(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.path.join(relative)
    }

    /// Makes a directory with its parents.
    pub fn make(&self, relative: &str) -> PathBuf {
        let path = self.at(relative);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// The text of a file.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.at(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    /// The names in a directory, sorted.
    pub fn list(&self, relative: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(relative)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The daemon's process number.
    pub fn pid(&self) -> u32 {
        self.daemon.load(Ordering::SeqCst)
    }

    fn mount_command(&self) -> Command {
        let mut command = threadfs(["mount"]);
        if self.how.memory {
            command.arg("memory:");
        } else {
            command.arg(&self.store);
        }
        command.arg(&self.path).arg("--log-file").arg(&self.log).args(&self.how.arguments);
        for option in &self.how.options {
            command.args(["-o", option]);
        }
        if self.how.config.is_some() {
            command.arg("--config").arg(self.path.with_file_name("threadfs.toml"));
        }
        command
    }

    /// Runs the mount command, and says how it ended.
    pub fn try_mount(&self) -> Done {
        let done = run(&mut self.mount_command(), COMMAND);
        if done.status.success() {
            let pid = done.stdout.trim_end().rsplit_once(", pid ").and_then(|(_, pid)| pid.parse().ok());
            self.daemon.store(pid.unwrap_or_else(|| panic!("{done:#?}")), Ordering::SeqCst);
            self.mounted.set(true);
        }
        done
    }

    /// Mounts, after it was unmounted or its daemon was killed.
    #[track_caller]
    pub fn mount_again(&self) {
        let done = self.try_mount();
        assert!(done.status.success(), "{done:#?}\n{}", self.log_text());
    }

    /// Unmounts in order.
    #[track_caller]
    pub fn unmount(&self) {
        let done = run(threadfs(["umount"]).arg(&self.path), COMMAND);
        assert!(done.status.success(), "{done:#?}\n{}", self.log_text());
        self.was_unmounted();
    }

    /// For a test that unmounts by itself: nothing is mounted any more.
    pub fn was_unmounted(&self) {
        self.mounted.set(false);
        self.daemon.store(0, Ordering::SeqCst);
    }

    /// Unmounts in order and mounts again.
    #[track_caller]
    pub fn remount(&self) {
        self.unmount();
        self.mount_again();
    }

    /// Ends a process, then unmounts in order and mounts again.
    #[track_caller]
    pub fn remount_after(&self, actor: Actor) {
        drop(actor);
        self.remount();
    }

    /// Kills the daemon; the mount stays there, dead.
    pub fn kill_daemon(&self) {
        let pid = self.daemon.swap(0, Ordering::SeqCst);
        kill(pid, libc::SIGKILL);
        assert!(exited(pid, COMMAND), "the daemon {pid} does not end");
    }

    /// Sends the daemon a signal.
    pub fn signal_daemon(&self, signal: libc::c_int) {
        kill(self.pid(), signal);
    }

    /// A Python process in the root of the mount.
    pub fn actor(&self) -> Actor {
        Actor::start(&self.path)
    }

    /// A Python process of another user in the root of the mount.
    pub fn actor_as(&self, uid: u32) -> Actor {
        Actor::start_as(&self.path, uid, uid)
    }

    /// Runs a Python program with the mountpoint as its first argument; what it prints last has
    /// to be JSON.
    #[track_caller]
    pub fn python(&self, script: &str, arguments: &[&str]) -> Value {
        let mountpoint = self.path.to_string_lossy();
        run_python(script, std::iter::once(&*mountpoint).chain(arguments.iter().copied()), watchdog_time() / 2)
    }

    /// Runs a command of the program on the mountpoint, with arguments behind it.
    pub fn command(&self, name: &str, arguments: &[&str]) -> Done {
        run(threadfs([name]).arg(&self.path).args(arguments), COMMAND)
    }

    /// Runs any command of the program in the root of the mount.
    pub fn threadfs(&self, arguments: &[&str]) -> Done {
        run(threadfs(arguments.iter().copied()).current_dir(&self.path).env_remove("DEER_FLOW_HOME"), COMMAND)
    }

    /// The same, for a command that prints JSON.
    #[track_caller]
    pub fn threadfs_json(&self, arguments: &[&str]) -> Value {
        let text = self.threadfs(arguments).ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// A file under `.threadfs` that is JSON.
    #[track_caller]
    pub fn control(&self, name: &str) -> Value {
        let text = self.read(&format!(".threadfs/{name}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
    }

    /// `.threadfs/status.json`.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.control("status.json")
    }

    /// A number of the status.
    #[track_caller]
    pub fn counted(&self, name: &str) -> u64 {
        self.status()[name].as_u64().unwrap_or_else(|| panic!("no number {name} in {}", self.status()))
    }

    /// The rejected drafts.
    #[track_caller]
    pub fn rejected(&self) -> Vec<Value> {
        self.control("rejected/index.json").as_array().unwrap().clone()
    }

    /// The rejected drafts, once there are so many.
    #[track_caller]
    pub fn rejected_when(&self, count: usize) -> Vec<Value> {
        // The kernel does not wait for RELEASE, which is when a draft is kept.
        super::wait::wait_for("rejected drafts", || self.rejected().len() >= count);
        let rejected = self.rejected();
        assert_eq!(rejected.len(), count, "{rejected:#?}");
        rejected
    }

    /// What the daemon logged.
    pub fn log_text(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn clean_up(&self) {
        let pid = self.daemon.swap(0, Ordering::SeqCst);
        if self.mounted.get() && detach(&self.path, 0).is_err() {
            // It may be gone already.
            detach(&self.path, libc::MNT_DETACH).unwrap_or_default();
        }
        if pid != 0 && !exited(pid, Duration::from_secs(20)) {
            eprintln!("the daemon {pid} does not end by itself: killing it");
            kill(pid, libc::SIGKILL);
            exited(pid, Duration::from_secs(20));
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.clean_up();
        let log = self.log_text();
        if thread::panicking() {
            eprintln!("--- the log of {}:\n{log}---", self.path.display());
        } else if !self.how.tolerates_errors {
            // The library of the protocol answers the news that a request was interrupted, which the
            // kernel may not expect any more when the request is done: no fault of anybody's.
            let harmless = "ERROR Failed to send FUSE reply: No such file or directory";
            let faults = log.lines().filter(|line| line.contains(" ERROR ") && !line.contains(harmless)).count();
            assert_eq!(faults, 0, "errors in the log:\n{log}");
        }
    }
}
