//! Closing commits, whoever closes what.

use crate::support::{DOC, Mount, wait_for};

const OLD: &str = "[0]";

fn mount() -> Mount {
    Mount::with_document(OLD)
}

/// A writer that has written half a document, unbuffered.
const HALF: &str = "fd = os.open('threads/t/sandbox.json', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'[1, ')";

#[test]
fn close_commits_before_it_returns() {
    let mount = mount();
    let writer = mount.actor();
    for n in 0..200 {
        writer.run(&format!("pathlib.Path('{DOC}').write_text('[{n}]')"));
        assert_eq!(mount.read(DOC), format!("[{n}]"));
    }
}

#[test]
fn an_unchanged_close_makes_no_version() {
    let mount = mount();
    let writer = mount.actor();
    let before = mount.counted("commits");
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.read(fd, 10); os.close(fd)"));
    assert_eq!(mount.counted("commits"), before);
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY); os.write(fd, b'[1]'); second = os.dup(fd)"));
    writer.run("os.close(fd)");
    assert_eq!(mount.counted("commits"), before + 1);
    writer.run("os.close(second)");
    assert_eq!(mount.counted("commits"), before + 1);
}

#[test]
fn closing_a_duplicate_commits_what_is_there_by_then() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'[1]')"));
    writer.run("os.close(os.dup(fd))");
    assert_eq!(mount.read(DOC), "[1]");
    writer.run("os.write(fd, b'  '); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1]  ");
}

#[test]
fn closing_a_duplicate_in_the_middle_leaves_the_draft() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(HALF);
    // The writer is not done, so this is no error.
    writer.run("os.close(os.dup(fd))");
    assert_eq!(mount.read(DOC), OLD);
    writer.run("os.write(fd, b'2]'); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1, 2]");
    assert!(mount.rejected().is_empty());
}

#[test]
fn a_subprocess_in_the_middle_of_a_write_leaves_the_draft() {
    let mount = mount();
    let writer = mount.actor();
    // Python's own descriptors are closed by exec; these are inherited as well.
    writer.run(HALF);
    writer.run("os.set_inheritable(fd, True)");
    writer.run("subprocess.run(['true'], close_fds=False, check=True)");
    writer.run("subprocess.run(['true'], check=True)");
    assert_eq!(mount.read(DOC), OLD);
    writer.run("os.write(fd, b'2]'); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1, 2]");
    assert!(mount.rejected().is_empty());
    assert_eq!(mount.counted("commits_rejected"), 0);
}

#[test]
fn a_forked_child_that_ends_first_leaves_the_draft() {
    let mount = mount();
    let writer = mount.actor();
    for exit in ["os._exit(0)", "os.close(fd); os._exit(0)", "os.kill(os.getpid(), 9)"] {
        writer.run(HALF);
        writer.run(&format!("pid = os.fork()\nif pid == 0:\n    try: {exit}\n    finally: os._exit(1)"));
        writer.run("os.waitpid(pid, 0)");
        assert_eq!(mount.read(DOC), OLD, "{exit}");
        writer.run("os.write(fd, b'2]'); os.close(fd)");
        assert_eq!(mount.read(DOC), "[1, 2]", "{exit}");
        writer.run(&format!("pathlib.Path('{DOC}').write_text('{OLD}')"));
    }
    assert!(mount.rejected().is_empty());
}

#[test]
fn a_child_that_outlives_its_parent_commits() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(HALF);
    writer.run("r, w = os.pipe()");
    writer.run(
        "pid = os.fork()\n\
         if pid == 0:\n\
        \x20   try:\n\
        \x20       os.close(w); os.read(r, 1); os.write(fd, b'3]'); os.close(fd)\n\
        \x20   finally:\n\
        \x20       os._exit(0)",
    );
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
    writer.run("os.close(w); os.waitpid(pid, 0)");
    assert_eq!(mount.read(DOC), "[1, 3]");
    assert!(mount.rejected().is_empty());
}

#[test]
fn fsync_commits_and_the_file_goes_on() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('[1]'); f.flush(); os.fsync(f.fileno())"));
    assert_eq!(mount.read(DOC), "[1]");
    writer.run("f.write('  '); f.flush(); os.fdatasync(f.fileno())");
    assert_eq!(mount.read(DOC), "[1]  ");
    writer.run("f.close()");
    assert_eq!(mount.counted("commits"), 3);
}

#[test]
fn fsync_of_half_a_document_is_refused_and_the_draft_stays() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(HALF);
    assert_eq!(writer.fails("os.fsync(fd)"), "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
    writer.run("os.write(fd, b'2]'); os.fsync(fd); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1, 2]");
    assert!(mount.rejected().is_empty());
}

#[test]
fn after_a_commit_a_draft_begins_from_the_newest() {
    let mount = mount();
    let (writer, other) = (mount.actor(), mount.actor());
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.pwrite(fd, b'[1]', 0); os.fsync(fd)"));
    other.run(&format!("pathlib.Path('{DOC}').write_text('[2, 2]')"));
    writer.run("os.pwrite(fd, b'3', 1); os.close(fd)");
    assert_eq!(mount.read(DOC), "[3, 2]");
}

#[test]
fn a_python_exception_inside_with_leaves_the_old_content() {
    let mount = mount();
    let writer = mount.actor();
    let error = writer.fails(&format!("with open('{DOC}', 'w') as f:\n    f.write('[1, ')\n    1 / 0"));
    assert_eq!(error, "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
    assert_eq!(mount.rejected_when(1)[0]["reason"].as_str().unwrap().split(':').next(), Some("it is not JSON"));
}

#[test]
fn an_error_of_close_does_not_leak_the_descriptor() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(HALF);
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(writer.fails("os.fstat(fd)"), "EBADF");
    wait_for("the draft to go", || mount.counted("drafts") == 0);
}

#[test]
fn a_commit_through_an_old_open_file_never_brings_a_name_back() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(HALF);
    writer.run(&format!("os.unlink('{DOC}')"));
    writer.run("os.write(fd, b'2]'); os.close(fd)");
    assert!(!mount.at(DOC).exists());
    assert!(mount.list("threads/t").is_empty());
    // Nor does it touch another document of the same name.
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[5]')"));
    writer.run(HALF);
    writer.run(&format!("os.unlink('{DOC}'); pathlib.Path('{DOC}').write_text('[6]')"));
    writer.run("os.write(fd, b'2]'); os.close(fd)");
    assert_eq!(mount.read(DOC), "[6]");
    assert!(mount.rejected().is_empty());
}
