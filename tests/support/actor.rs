//! A Python process that a test tells step by step what to do.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a step may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process; killed when it is dropped.
pub struct Actor {
    inner: RefCell<Inner>,
}

struct Inner {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    buffered: Vec<u8>,
}

/// What a step raised: an errno's name or an exception's, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    pub name: String,
    pub text: String,
}

impl Actor {
    /// Starts a process in a directory.
    pub fn start(directory: &Path) -> Actor {
        Actor::spawn(Command::new("python3").current_dir(directory))
    }

    /// The same as another user and group, without other groups.
    pub fn start_as(directory: &Path, uid: u32, gid: u32) -> Actor {
        // The directory is entered by the process itself, as the new user.
        Actor::spawn(Command::new("python3").current_dir(directory).uid(uid).gid(gid))
    }

    /// Starts a process in a pid namespace of its own, as in a container.
    pub fn start_in_pid_namespace(directory: &Path) -> Actor {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "python3"]);
        Actor::spawn(command.current_dir(directory))
    }

    /// Starts a process as another user in a container that has a directory at /mnt.
    pub fn start_in_container(directory: &Path, uid: u32) -> Actor {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "slave", "bash", "-c", include_str!("container.sh"), "bash"]);
        Actor::spawn(command.arg(directory).arg(uid.to_string()).arg("python3"))
    }

    fn spawn(command: &mut Command) -> Actor {
        let mut child = command
            .args(["-I", "-u", "-c", include_str!("actor.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let actor = Actor { inner: RefCell::new(Inner { child, stdin, stdout, buffered: Vec::new() }) };
        actor.run("True");
        actor
    }

    pub fn pid(&self) -> u32 {
        self.inner.borrow().child.id()
    }

    /// Runs statements or evaluates an expression.
    pub fn try_run(&self, code: &str) -> Result<Value, Raised> {
        self.begin(code);
        self.end()
    }

    /// The value of an expression, or null for statements, that must not raise.
    #[track_caller]
    pub fn run(&self, code: &str) -> Value {
        self.try_run(code).unwrap_or_else(|raised| panic!("{code}: {raised:?}"))
    }

    /// The value of an expression that is a string or bytes (as Latin-1).
    #[track_caller]
    pub fn text(&self, code: &str) -> String {
        match self.run(code) {
            Value::String(text) => text,
            other => panic!("{code}: not a text but {other}"),
        }
    }

    /// The value of an expression that is a whole number.
    #[track_caller]
    pub fn number(&self, code: &str) -> i64 {
        self.run(code).as_i64().unwrap_or_else(|| panic!("{code}: not a number"))
    }

    /// The value of an expression that is true or false.
    #[track_caller]
    pub fn is(&self, code: &str) -> bool {
        self.run(code).as_bool().unwrap_or_else(|| panic!("{code}: neither true nor false"))
    }

    /// The name of the errno or exception that a step has to raise.
    #[track_caller]
    pub fn fails(&self, code: &str) -> String {
        match self.try_run(code) {
            Ok(value) => panic!("{code}: no error but {value}"),
            Err(raised) => raised.name,
        }
    }

    /// Begins a step that may take; [`Actor::end`] waits for it.
    #[track_caller]
    pub fn begin(&self, code: &str) {
        let mut inner = self.inner.borrow_mut();
        let line = Value::String(code.into()).to_string() + "\n";
        inner.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap_or_else(|error| panic!("{code}: {error}"));
    }

    /// Whether the step that was begun is still going on.
    pub fn is_busy(&self) -> bool {
        let mut inner = self.inner.borrow_mut();
        inner.fill(Duration::ZERO);
        !inner.buffered.contains(&b'\n')
    }

    /// Waits for the step that was begun.
    #[track_caller]
    pub fn end(&self) -> Result<Value, Raised> {
        let mut inner = self.inner.borrow_mut();
        let until = Instant::now() + PATIENCE;
        while !inner.buffered.contains(&b'\n') {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !inner.fill(left) {
                let ended = inner.child.try_wait();
                panic!("no answer within {PATIENCE:?}, or the process has ended: {ended:?}");
            }
        }
        let end = inner.buffered.iter().position(|byte| *byte == b'\n').unwrap();
        let line: Vec<u8> = inner.buffered.drain(..=end).collect();
        let mut reply: Value = serde_json::from_slice(&line).unwrap();
        let text = |reply: &Value, name: &str| reply[name].as_str().unwrap_or_default().to_string();
        if reply["error"].is_string() {
            return Err(Raised { name: text(&reply, "error"), text: text(&reply, "text") });
        }
        Ok(reply["value"].take())
    }

    /// Kills the process and waits until it is gone.
    pub fn kill(self) {
        drop(self);
    }

    /// Closes its input, so that it ends by itself and in order.
    pub fn leave(self) {
        let mut inner = self.inner.borrow_mut();
        drop(inner.stdin.take());
        assert!(inner.child.wait().unwrap().success());
    }

    /// Sends a signal.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: a child that was not waited for yet.
        assert_eq!(unsafe { libc::kill(self.pid() as libc::pid_t, signal) }, 0);
    }
}

impl Inner {
    /// Takes what the process has written; false when nothing comes in time or nothing can.
    fn fill(&mut self, time: Duration) -> bool {
        let mut poll = libc::pollfd { fd: self.stdout.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid element.
        if unsafe { libc::poll(&mut poll, 1, time.as_millis() as libc::c_int) } != 1 {
            return false;
        }
        let mut chunk = vec![0; 1 << 16];
        let count = self.stdout.read(&mut chunk).unwrap();
        self.buffered.extend_from_slice(&chunk[..count]);
        count > 0
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // It may be gone already.
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}
