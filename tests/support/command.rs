//! The program under test, run as a command with a deadline.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use super::wait::within;

/// How a command ended.
#[derive(Debug)]
pub struct Done {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// Standard output of a command that has to succeed without a complaint.
    #[track_caller]
    pub fn ok(self) -> String {
        assert!(self.status.success() && self.stderr.is_empty(), "{self:#?}");
        self.stdout
    }

    /// The complaint of a command that has to fail with status 1 and print nothing else.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!(self.status.code(), Some(1), "{self:#?}");
        assert_eq!(self.stdout, "", "{self:#?}");
        assert!(self.stderr.starts_with("threadfs: "), "{self:#?}");
        self.stderr
    }
}

/// The program, with an environment of which nothing changes its configuration.
pub fn threadfs<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadfs"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("THREADFS_") {
            command.env_remove(name);
        }
    }
    command.args(arguments);
    command
}

/// Runs a command to its end; kills it and its children at the deadline.
#[track_caller]
pub fn run(command: &mut Command, deadline: Duration) -> Done {
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    finish(child, deadline)
}

/// Waits for a started process; kills its process group, which has to be its own, at the deadline.
#[track_caller]
pub fn finish(mut child: Child, deadline: Duration) -> Done {
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut pipe) = pipe {
                pipe.read_to_end(&mut text).unwrap();
            }
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let in_time = within(deadline, || child.try_wait().unwrap().is_some());
    if !in_time {
        // SAFETY: the group of a child that was not waited for yet.
        unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    }
    let status = child.wait().unwrap();
    let done = Done { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
    assert!(in_time, "not done after {deadline:?}: {done:#?}");
    done
}
