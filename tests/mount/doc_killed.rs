//! A writer that is killed leaves the committed content as it is.

use crate::support::{Actor, DOC, Mount};

const OLD: &str = r#"{"state": "old"}"#;

fn mount() -> Mount {
    Mount::with_document(OLD)
}

fn writer_at(mount: &Mount, steps: &str) -> Actor {
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)"));
    if !steps.is_empty() {
        writer.run(steps);
    }
    writer
}

#[track_caller]
fn killed(mount: &Mount, steps: &str, size: u64) {
    let writer = writer_at(mount, steps);
    let pid = writer.pid();
    writer.kill();
    let rejected = mount.rejected_when(1);
    let draft = &rejected[0];
    assert_eq!(draft["pid"], pid, "{draft}");
    assert_eq!(draft["bytes"], size, "{draft}");
    assert_eq!(draft["path"], DOC, "{draft}");
    assert!(draft["reason"].as_str().unwrap().ends_with("; its writer was killed"), "{draft}");
    assert!(draft["command"].as_str().unwrap().contains("python3"), "{draft}");
}

#[test]
fn after_open() {
    let mount = mount();
    killed(&mount, "", 0);
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn after_the_first_write() {
    let mount = mount();
    killed(&mount, "os.write(fd, b'{')", 1);
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn in_the_middle() {
    let mount = mount();
    killed(&mount, "os.write(fd, b'{\"a\": 1,'); os.write(fd, b' \"b\":')", 13);
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn of_a_large_document() {
    let mount = mount();
    killed(&mount, "os.write(fd, b'[' + b'1, ' * 100000)", 300_001);
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn before_close_a_whole_document_is_committed() {
    let mount = mount();
    let writer = writer_at(&mount, "os.write(fd, b'[1]')");
    writer.kill();
    assert_eq!(mount.read(DOC), "[1]");
    assert!(mount.rejected().is_empty());
}

#[test]
fn of_a_new_document() {
    let mount = Mount::new();
    mount.make("threads/t");
    for (steps, size) in [("", 0), ("os.write(fd, b'{\"a\"')", 4)] {
        killed(&mount, steps, size);
        assert!(!mount.at(DOC).exists());
        assert!(mount.list("threads/t").is_empty());
        assert!(mount.command("rejected", &["delete", "--all"]).ok().starts_with("Deleted 1 "));
    }
    let writer = writer_at(&mount, "os.write(fd, b'[1]')");
    writer.kill();
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn while_it_changes_in_place() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.pwrite(fd, b'[[[', 0)"));
    writer.kill();
    let draft = &mount.rejected_when(1)[0];
    assert_eq!(draft["bytes"], OLD.len());
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_writer_that_holds_the_lock() {
    let mount = mount();
    let lock = "lock = open('threads/t/sandbox.lock', 'w'); fcntl.flock(lock, fcntl.LOCK_EX)";
    let writer = mount.actor();
    writer.run(lock);
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('{{\"sta'); f.flush()"));
    let waiter = mount.actor();
    waiter.begin(&format!("{lock}; state = open('{DOC}').read()"));
    writer.kill();
    waiter.end().unwrap();
    assert_eq!(waiter.text("state"), OLD);
}

#[test]
fn by_an_unhandled_signal_or_exit_it_is_the_same() {
    let mount = mount();
    for (end, killed) in [("os.kill(os.getpid(), signal.SIGTERM)", true), ("os._exit(3)", false)] {
        let writer = mount.actor();
        writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'[1, ')"));
        writer.begin(end);
        let draft = mount.rejected_when(1).remove(0);
        assert_eq!(draft["reason"].as_str().unwrap().ends_with("its writer was killed"), killed, "{draft}");
        assert_eq!(mount.read(DOC), OLD);
        mount.command("rejected", &["delete", "--all"]).ok();
    }
}

#[test]
fn the_end_of_a_process_with_threads_is_no_kill() {
    let mount = mount();
    for (end, killed) in [("os._exit(3)", false), ("os._exit(0)", false), ("os.kill(os.getpid(), 9)", true)] {
        for _ in 0..3 {
            let writer = mount.actor();
            writer.run("for n in range(4): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()");
            writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'[1, ')"));
            writer.begin(end);
            let draft = mount.rejected_when(1).remove(0);
            assert_eq!(draft["reason"].as_str().unwrap().ends_with("its writer was killed"), killed, "{end}: {draft}");
            mount.command("rejected", &["delete", "--all"]).ok();
        }
    }
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_writer_that_executes_another_program() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'[1, ')"));
    // The descriptor is closed by exec.
    writer.begin("os.execvp('sleep', ['sleep', '1000'])");
    let draft = &mount.rejected_when(1)[0];
    assert!(!draft["reason"].as_str().unwrap().contains("killed"), "{draft}");
    assert_eq!(mount.read(DOC), OLD);
}
