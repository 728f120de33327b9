//! Threads that were deleted: how long their history is kept.

use serde_json::Value;

use crate::support::{Mount, NOBODY, wait_for};

/// A thread with a snapshot and more content than that.
fn thread(mount: &Mount) {
    mount.make("threads/t/ws");
    mount.actor().run(
        "os.chdir('threads/t')\n\
         pathlib.Path('a.json').write_text('[1]'); pathlib.Path('ws/f').write_bytes(b'x' * 100_000)\n\
         os.mkdir('.snapshots/one'); pathlib.Path('a.json').write_text('[2]')",
    );
}

fn deleted(mount: &Mount) -> Vec<Value> {
    mount.control("deleted.json").as_array().unwrap().clone()
}

/// What the command says.
fn told(mount: &Mount) -> String {
    let mut command = crate::support::threadfs(["deleted"]);
    crate::support::run(command.arg("--mount").arg(&mount.path), std::time::Duration::from_secs(60)).ok()
}

/// Checks the store, snapshots and all, while it is not mounted.
fn check(mount: &Mount) {
    mount.unmount();
    let store = mount.store.to_str().unwrap().to_owned();
    let mut command = crate::support::threadfs(["fsck", "--snapshots", &store]);
    crate::support::run(&mut command, std::time::Duration::from_secs(60)).ok();
    mount.mount_again();
}

#[test]
fn its_snapshots_are_kept_and_listed() {
    let mount = Mount::with(&["snapshots.auto=off"]);
    thread(&mount);
    assert_eq!(told(&mount), "No deleted threads are kept.\n");
    let actor = mount.actor();
    actor.run("pid = os.getpid(); shutil.rmtree('threads/t')");
    let listed = deleted(&mount);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let gone = &listed[0];
    assert_eq!((gone["id"].as_str(), gone["path"].as_str()), (Some("t"), Some("threads/t")), "{gone}");
    assert_eq!((gone["pid"].as_i64(), gone["uid"].as_i64()), (Some(actor.number("pid")), Some(0)), "{gone}");
    assert!(gone["command"].as_str().unwrap().contains("python3"), "{gone}");
    assert!(gone["deleted"].as_str() < gone["gone_at"].as_str() && gone["bytes"].as_u64() >= Some(100_000), "{gone}");
    assert_eq!(gone["snapshots"][0]["name"], "one");
    // It is no thread any more, and a new one of its name is another.
    assert_eq!((mount.counted("threads"), mount.counted("bytes")), (0, 0));
    mount.make("threads/t");
    assert!(mount.list("threads/t/.snapshots").is_empty());
    mount.actor().run("os.mkdir('threads/t/.snapshots/new'); os.rmdir('threads/t')");
    drop(actor);
    check(&mount);
    let after = deleted(&mount);
    assert_eq!(after.len(), 2);
    assert_eq!((&after[1], after[0]["snapshots"][0]["name"].as_str()), (gone, Some("new")), "the newest comes first");
    assert_ne!(after[0]["realm"], after[1]["realm"]);
    let text = told(&mount);
    assert!(text.lines().count() == 3 && text.contains("threads/t") && text.contains("one"), "{text}");
    let stranger = mount.actor_as(NOBODY);
    assert!(stranger.is("len(open('.threadfs/deleted.json').read()) > 10"));
}

#[test]
fn it_is_gone_when_its_time_is_over() {
    let mount = Mount::with(&["snapshots.auto=off", "snapshots.keep_deleted=1s"]);
    thread(&mount);
    let before = mount.actor();
    before.run("shutil.rmtree('threads/t')");
    assert_eq!(deleted(&mount).len(), 1);
    wait_for("the deleted thread to be forgotten", || deleted(&mount).is_empty());
    drop(before);
    check(&mount);
    assert!(deleted(&mount).is_empty());
}

#[test]
fn nothing_is_kept_of_one_without_snapshots_nor_when_none_shall_be() {
    for (options, takes) in [(vec!["snapshots.auto=off"], false), (vec!["snapshots.keep_deleted=0s"], true)] {
        let mount = Mount::with(&options);
        mount.make("threads/t/ws");
        let actor = mount.actor();
        actor.run("pathlib.Path('threads/t/a.json').write_text('[1]')");
        if takes {
            actor.run("os.mkdir('threads/t/.snapshots/one')");
        }
        actor.run("shutil.rmtree('threads/t')");
        assert!(deleted(&mount).is_empty());
        drop(actor);
        check(&mount);
    }
}

#[test]
fn a_rename_over_an_empty_thread_deletes_it_too() {
    let mount = Mount::with(&["snapshots.auto=off"]);
    mount.make("threads/a");
    mount.make("threads/b");
    let actor = mount.actor();
    actor.run("os.mkdir('threads/b/.snapshots/one'); os.rename('threads/a', 'threads/b')");
    assert_eq!(deleted(&mount)[0]["path"], "threads/b");
    assert!(mount.list("threads/b/.snapshots").is_empty());
}
