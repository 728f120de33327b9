//! Lock files: they show their holders, and keep what is written to them.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use crate::support::{Mount, wait_for};

const LOCK: &str = "threads/t/sandbox.lock";

fn mount() -> Mount {
    let mount = Mount::new();
    mount.make("threads/t");
    mount
}

fn shown(mount: &Mount) -> Value {
    serde_json::from_str(&mount.read(LOCK)).unwrap()
}

#[test]
fn an_empty_lock_file_shows_who_holds_it() {
    let mount = mount();
    let (holder, waiter) = (mount.actor(), mount.actor());
    holder.run(&format!("f = open('{LOCK}', 'w'); fcntl.flock(f, fcntl.LOCK_EX)"));
    let locks = shown(&mount);
    assert_eq!(locks.as_array().unwrap().len(), 1, "{locks}");
    assert_eq!((locks[0]["pid"].as_u64(), locks[0]["state"].as_str()), (Some(holder.pid().into()), Some("held")));
    waiter.begin(&format!("f = open('{LOCK}', 'w'); fcntl.flock(f, fcntl.LOCK_EX)"));
    wait_for("the waiter to show", || shown(&mount).as_array().unwrap().len() == 2);
    holder.run("f.close()");
    waiter.end().unwrap();
    assert_eq!(shown(&mount)[0]["pid"].as_u64(), Some(waiter.pid().into()));
    waiter.run("f.close()");
    assert_eq!(shown(&mount), serde_json::json!([]));
}

#[test]
fn only_its_own_locks_show_and_its_size_stays_zero() {
    let mount = mount();
    let holder = mount.actor();
    holder.run(&format!("f = open('{LOCK}', 'w'); fcntl.flock(f, fcntl.LOCK_EX)"));
    holder.run("g = open('threads/t/other.lock', 'w'); fcntl.flock(g, fcntl.LOCK_SH)");
    assert_eq!(shown(&mount)[0]["path"], LOCK);
    assert_eq!(shown(&mount).as_array().unwrap().len(), 1);
    assert_eq!(std::fs::metadata(mount.at(LOCK)).unwrap().len(), 0);
    assert_eq!(holder.number("subprocess.run(['cat', 'threads/t/other.lock'], stdout=-3).returncode"), 0);
}

#[test]
fn what_is_written_to_a_lock_file_is_kept_and_read_back() {
    let mount = mount();
    let holder = mount.actor();
    holder.run(&format!("f = open('{LOCK}', 'w'); fcntl.flock(f, fcntl.LOCK_EX); f.write('4711\\n'); f.flush()"));
    // Nothing is hidden until close.
    assert_eq!(mount.read(LOCK), "4711\n");
    holder.run(&format!("g = open('{LOCK}', 'a'); g.write('more\\n'); g.close()"));
    assert_eq!(mount.read(LOCK), "4711\nmore\n");
    drop(holder);
    mount.remount();
    assert_eq!(mount.read(LOCK), "4711\nmore\n");
    let other = mount.actor();
    other.run(&format!("open('{LOCK}', 'w').close()"));
    assert_eq!(shown(&mount), serde_json::json!([]));
}

#[test]
fn opening_a_held_lock_file_with_truncation_keeps_inode_and_lock() {
    let mount = mount();
    let (holder, other) = (mount.actor(), mount.actor());
    holder.run(&format!("f = open('{LOCK}', 'w'); fcntl.flock(f, fcntl.LOCK_EX)"));
    let ino = std::fs::metadata(mount.at(LOCK)).unwrap().ino();
    for _ in 0..20 {
        other.run(&format!("f = open('{LOCK}', 'w')"));
        assert_eq!(other.fails("fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)"), "EAGAIN");
        assert_eq!(std::fs::metadata(mount.at(LOCK)).unwrap().ino(), ino);
        assert_eq!(shown(&mount)[0]["pid"].as_u64(), Some(holder.pid().into()));
    }
    holder.run("assert os.fstat(f.fileno()).st_nlink == 1; f.close()");
    other.run("fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)");
}

#[test]
fn both_layouts_have_lock_files() {
    let mount = mount();
    mount.make("users/7/threads/t");
    let holder = mount.actor();
    holder.run("f = open('users/7/threads/t/sb-1.lock', 'a'); fcntl.flock(f, fcntl.LOCK_EX)");
    let shown: Value = serde_json::from_str(&mount.read("users/7/threads/t/sb-1.lock")).unwrap();
    assert_eq!(shown[0]["pid"].as_u64(), Some(holder.pid().into()));
    // Elsewhere an empty file is an empty file.
    holder.run("g = open('x.lock', 'w'); fcntl.flock(g, fcntl.LOCK_EX)");
    assert_eq!(mount.read("x.lock"), "");
}

#[test]
fn a_lock_file_is_an_ordinary_file_else() {
    let mount = mount();
    let actor = mount.actor();
    actor.run(&format!("pathlib.Path('{LOCK}').write_text('x' * 10000)"));
    actor.run(&format!("os.truncate('{LOCK}', 5000); os.link('{LOCK}', 'threads/t/second.lock')"));
    assert_eq!(actor.number(&format!("os.stat('{LOCK}').st_size")), 5000);
    actor.run(&format!("os.rename('{LOCK}', 'threads/t/plain')"));
    assert_eq!(mount.read("threads/t/plain").len(), 5000);
    actor.run("shutil.copyfile('threads/t/plain', 'threads/t/third.lock')");
    assert_eq!(mount.read("threads/t/third.lock"), "x".repeat(5000));
}

#[test]
fn remaining_bytes_of_a_truncated_lock_file_do_not_come_back() {
    let mount = mount();
    let actor = mount.actor();
    actor
        .run(&format!("pathlib.Path('{LOCK}').write_text('123456'); f = open('{LOCK}', 'w'); f.write('7'); f.close()"));
    assert_eq!(mount.read(LOCK), "7");
    actor.run(&format!("os.truncate('{LOCK}', 3)"));
    assert_eq!(mount.read(LOCK), "7\0\0");
}
