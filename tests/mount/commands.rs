//! The other commands on a real mount.

use crate::support::{DOC, Mount, NOBODY};

#[test]
fn version_and_completions() {
    let mount = Mount::builder().prepare();
    let command = |arguments: &[&str]| {
        let mut command = crate::support::threadfs(arguments.iter().copied());
        crate::support::run(command.current_dir(&mount.path), std::time::Duration::from_secs(60))
    };
    assert_eq!(command(&["--version"]).ok(), format!("threadfs {}\n", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        let script = command(&["completions", shell]).ok();
        assert!(
            ["mount", "umount", "status", "locks", "rejected"].iter().all(|name| script.contains(name)),
            "{script}"
        );
    }
    assert_eq!(command(&["mount"]).status.code(), Some(2));
    assert_eq!(command(&["nonsense"]).status.code(), Some(2));
}

#[test]
fn commands_work_from_inside_the_mount_and_refuse_what_is_inside() {
    let mount = Mount::with_document("[1]");
    let command = |name: &str, at: &str| {
        let mut command = crate::support::threadfs([name, at]);
        crate::support::run(command.current_dir(mount.at("threads")), std::time::Duration::from_secs(60))
    };
    for name in ["status", "locks", "rejected"] {
        assert!(!command(name, "..").ok().is_empty());
        let told = command(name, "t").refused();
        assert!(told.contains("is not a threadfs mount") && told.contains(mount.path.to_str().unwrap()), "{told}");
    }
}

#[test]
fn names_cannot_reach_the_terminal() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.makedirs('threads/\\x1b[31mred\\n'); f = open('threads/\\x1b[31mred\\n/a.json', 'w'); f.write('[')");
    assert_eq!(actor.fails("f.close()"), "EBADMSG");
    mount.rejected_when(1);
    actor.run("f = open('threads/\\x1b[31mred\\n/x.lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX)");
    for name in ["rejected", "locks"] {
        let told = mount.command(name, &[]).ok();
        assert!(!told.contains('\x1b') && told.contains("\\u{1b}[31mred\\n"), "{told:?}");
    }
    assert!(!mount.log_text().contains('\x1b'));
}

#[test]
fn a_command_for_another_user() {
    let mount = Mount::with_document("[1]");
    use std::os::unix::process::CommandExt;
    let program = mount.path.with_file_name("threadfs");
    std::fs::copy(env!("CARGO_BIN_EXE_threadfs"), &program).unwrap();
    for name in ["status", "locks", "rejected"] {
        let mut command = std::process::Command::new(&program);
        command.env_clear().arg(name).arg(&mount.path).uid(NOBODY).gid(NOBODY);
        crate::support::run(&mut command, std::time::Duration::from_secs(60)).ok();
    }
    let mut command = std::process::Command::new(&program);
    command.env_clear().env("PATH", "/usr/bin:/bin").arg("umount").arg(&mount.path).uid(NOBODY).gid(NOBODY);
    let told = crate::support::run(&mut command, std::time::Duration::from_secs(60)).refused();
    assert!(told.contains("no permission"), "{told}");
    assert_eq!(mount.read(DOC), "[1]");
}
