//! The commands that read the history: snapshot, log, show; and how they find a thread.

use std::time::Duration;

use crate::support::{Mount, NOBODY, run, threadfs, wait_for};

const QUIET: &[&str] = &["snapshots.auto=off"];

fn mount() -> Mount {
    let mount = Mount::with(QUIET);
    mount.make("threads/t1");
    mount
}

#[test]
fn create_list_delete() {
    let mount = mount();
    assert_eq!(mount.threadfs(&["snapshot", "create", "t1", "one", "--reason", "first"]).ok(), "one\n");
    mount.actor().run("pathlib.Path('threads/t1/a.json').write_text('[1]')");
    assert!(mount.threadfs(&["snapshot", "create", "threads/t1"]).ok().starts_with("manual-20"));
    let list = mount.threadfs(&["snapshot", "list", "t1"]).ok();
    let lines: Vec<&str> = list.lines().collect();
    assert!(
        lines[0].starts_with("TIME") && lines[1].contains("one") && lines[1].ends_with("-         first"),
        "{list}"
    );
    assert!(lines[2].contains("+1 -0 ~0"), "{list}");
    let json = mount.threadfs_json(&["snapshot", "list", "t1", "--json"]);
    assert_eq!((json[0]["name"].as_str(), json[0]["kind"].as_str()), (Some("one"), Some("named")));
    let told = mount.threadfs(&["snapshot", "delete", "t1", "on"]).refused();
    assert_eq!(told, "threadfs: threads/t1: there is no snapshot \"on\"; the nearest is \"one\"\n");
    assert_eq!(mount.threadfs(&["snapshot", "delete", "t1", "one"]).ok(), "Deleted the snapshot one.\n");
    // A time stands for the newest snapshot that old.
    let told = mount.threadfs(&["snapshot", "delete", "t1", "@2999-01-01T00:00:00Z"]).ok();
    assert!(told.starts_with("Deleted the snapshot manual-"), "{told}");
    assert_eq!(mount.threadfs(&["snapshot", "list", "t1"]).ok(), "There are no snapshots.\n");
    assert_eq!(mount.threadfs(&["snapshot", "create", "/", "all"]).ok(), "all\n");
    assert_eq!(mount.list(".snapshots"), ["all"]);
    assert!(mount.threadfs(&["snapshot", "create", "t1", "@x"]).refused().contains("cannot be a snapshot's name"));
}

#[test]
fn the_timeline() {
    let mount = Mount::with(&["snapshots.cooldown=0s"]);
    mount.make("threads/t1");
    mount.actor().run("for n in range(3): pathlib.Path('threads/t1/a.json').write_text(f'[{n}]')");
    wait_for("three snapshots", || mount.list("threads/t1/.snapshots").len() >= 3);
    let log = mount.threadfs(&["log", "t1", "--paths"]).ok();
    assert!(log.contains("automatic") && log.contains("commit of a.json by process"), "{log}");
    assert!(log.contains("  ~ a.json  (content)\n"), "{log}");
    let versions = mount.threadfs(&["log", "t1", "--versions"]).ok();
    assert_eq!(versions.lines().count(), 4, "{versions}");
    assert_eq!(mount.threadfs(&["log", "t1", "--versions", "a.json"]).ok(), versions);
    assert_eq!(mount.threadfs(&["show", "t1", "a.json@1"]).ok(), "[0]");
    let whole = mount.at("threads/t1/a.json@3");
    assert_eq!(mount.threadfs(&["show", "t1", whole.to_str().unwrap()]).ok(), "[2]");
    assert!(mount.threadfs(&["show", "t1", "a.json@7"]).refused().contains("kept are 1 to 3"));
    assert!(mount.threadfs(&["show", "t1", "a.json"]).refused().contains("FILE@VERSION"));
    let json = mount.threadfs_json(&["log", "t1", "--json"]);
    assert_eq!(json["snapshots"][1]["counts"]["changed"], 1, "{json}");
}

#[test]
fn documents_of_any_bytes_can_be_shown() {
    let mount = Mount::with(&["snapshots.auto=off", "documents.on_invalid=accept"]);
    mount.make("threads/t1");
    let actor = mount.actor();
    actor.run("pathlib.Path('threads/t1/a.json').write_bytes(b'\\xff\\\\')");
    actor.run("import json; fd = os.open('threads/t1/.snapshots/.control', os.O_RDWR)");
    actor.run("os.write(fd, b'{\"op\":\"show\",\"path\":\"a.json\",\"version\":1}')");
    assert_eq!(actor.text("json.loads(os.pread(fd, 1000, 0))['ok']['escaped']"), "\\xff\\\\");
}

#[test]
fn threads_are_found_by_path_and_by_id() {
    let mount = mount();
    mount.make("users/u/threads/both");
    mount.make("users/v/threads/only");
    mount.make("threads/both");
    mount.make("threads/t1/ws/deep");
    let finds = |dir: &str, arguments: &[&str]| {
        let mut command = threadfs(["snapshot", "list", "--json"]);
        run(command.args(arguments).current_dir(mount.at(dir)).env_remove("DEER_FLOW_HOME"), Duration::from_secs(60))
    };
    for (dir, thread) in [
        ("", "t1"),
        ("", "only"),
        ("", "threads/t1"),
        ("", "threads/t1/ws/deep"),
        ("threads", "t1"),
        ("threads/t1/ws", "."),
        ("threads/t1/ws", "t1"),
        ("threads", "both"),
        ("users/u/threads", "both"),
        ("", "/"),
        ("", "."),
    ] {
        assert_eq!(finds(dir, &[thread]).ok(), "[]\n", "{dir}: {thread}");
    }
    let told = finds("", &["both"]).refused();
    assert!(told.contains("several threads") && told.contains("users/u/threads/both\n"), "{told}");
    assert!(finds("", &["t2"]).refused().contains("there is no thread \"t2\"; the nearest is \"t1\""));
    assert!(finds("", &["threads/no"]).refused().contains("does not exist"));
    assert!(finds("", &["./threads"]).refused().contains("is in no thread"));
    assert!(finds("", &["/proc"]).refused().contains("is in no threadfs mount"));
    let path = mount.path.to_str().unwrap();
    let outside = |arguments: &[&str], home: Option<&str>| {
        let mut command = threadfs(["snapshot", "list", "--json"]);
        command.args(arguments).current_dir("/tmp").env_remove("DEER_FLOW_HOME");
        run(command.envs(home.map(|home| ("DEER_FLOW_HOME", home))), Duration::from_secs(60))
    };
    assert!(outside(&["t1"], None).refused().contains("cannot tell which mount"));
    assert_eq!(outside(&["t1"], Some(path)).ok(), "[]\n");
    assert_eq!(outside(&["t1", "--mount", path], None).ok(), "[]\n");
    assert_eq!(outside(&["threads/t1", "--mount", path], None).ok(), "[]\n");
    assert_eq!(outside(&[path], None).ok(), "[]\n");
}

#[test]
fn a_stranger_is_told_so() {
    let mount = mount();
    mount.threadfs(&["snapshot", "create", "t1", "one"]).ok();
    use std::os::unix::process::CommandExt;
    let program = mount.path.with_file_name("threadfs");
    std::fs::copy(env!("CARGO_BIN_EXE_threadfs"), &program).unwrap();
    for arguments in [
        &["snapshot", "list"][..],
        &["snapshot", "create"],
        &["snapshot", "delete"],
        &["log"],
        &["diff"],
        &["restore"],
        &["fork"],
    ] {
        let mut command = std::process::Command::new(&program);
        command.env_clear().args(arguments).arg(mount.at("threads/t1")).uid(NOBODY).gid(NOBODY);
        if !matches!(arguments, ["snapshot", "list" | "create"] | ["log"]) {
            command.arg("one");
        }
        let told = run(&mut command, Duration::from_secs(60)).refused();
        assert!(told.contains("no permission") || told.contains("Permission denied"), "{arguments:?}: {told}");
    }
}

#[test]
fn snapshots_of_everything_are_in_the_timeline_of_a_thread() {
    let mount = mount();
    let actor = mount.actor();
    actor.run("pathlib.Path('threads/t1/a.json').write_text('{\"a\":1}'); os.mkdir('threads/t1/.snapshots/own')");
    actor.run("pathlib.Path('threads/t1/a.json').write_text('{\"a\":2}'); os.mkdir('.snapshots/all')");
    actor.run("pathlib.Path('threads/t1/a.json').write_text('{\"a\":3}'); os.mkdir('threads/later')");
    let log = mount.threadfs_json(&["log", "t1", "--json"]);
    let told: Vec<_> = log["snapshots"].as_array().unwrap().iter().map(|s| (&s["name"], &s["kind"])).collect();
    assert_eq!(serde_json::json!(told), serde_json::json!([["own", "named"], ["all", "home"]]));
    assert_eq!(log["now"]["counts"]["changed"], 1, "{log}");
    assert!(mount.threadfs(&["diff", "t1", "all"]).ok().contains("    ~ /a: 2 -> 3\n"));
    assert!(mount.threadfs(&["diff", "t1", "own", "all"]).ok().contains("    ~ /a: 1 -> 2\n"));
    // A thread that was not there then has no part in it.
    assert!(mount.threadfs(&["restore", "later", "all"]).refused().contains("there is no snapshot \"all\""));
    assert_eq!(mount.threadfs(&["log", "later"]).ok(), "There are no snapshots.\n");
    // It can be read there, and is in both places.
    actor.run("os.chdir('threads/t1/.snapshots')");
    assert_eq!(actor.text("open('all/a.json').read()"), "{\"a\":2}");
    assert_eq!(actor.text("open('../../../.snapshots/all/threads/t1/a.json').read()"), "{\"a\":2}");
    assert!(actor.is("os.path.samefile('all/..', '.') and os.listdir() == ['own']"));
    assert_eq!(actor.text("os.getxattr('all', 'user.threadfs.kind').decode()"), "home");
    assert!(actor.is("'user.threadfs.name' in os.listxattr('all')"));
    assert!(actor.is("os.readlink('@2999-01-01T00:00:00Z') == 'all'"));
    assert_eq!(actor.fails("os.rmdir('all')"), "EPERM");
    assert_eq!(actor.fails("os.mkdir('all')"), "EEXIST");
    assert_eq!(actor.fails("os.stat('../../later/.snapshots/all')"), "ENOENT");
    assert!(
        mount.threadfs(&["snapshot", "create", "t1", "all"]).refused().contains("there is a snapshot \"all\" already")
    );
    actor.run("os.chdir('../../..')");
    // One of its own comes before one of everything.
    actor.run("os.mkdir('.snapshots/own')");
    assert!(mount.threadfs(&["diff", "t1", "own"]).ok().contains("    ~ /a: 1 -> 3\n"));
    // The newest at a time may be one of everything.
    assert!(mount.threadfs(&["diff", "t1", "@2999-01-01T00:00:00Z"]).ok().contains("    ~ /a: 2 -> 3\n"));
    let told = mount.threadfs(&["snapshot", "delete", "t1", "all"]).refused();
    assert!(told.contains("is a snapshot of the whole home") && mount.at(".snapshots/all").is_dir(), "{told}");
}

#[test]
fn a_thread_goes_back_to_a_snapshot_of_everything() {
    let mount = mount();
    let actor = mount.actor();
    mount.make("threads/t2/ws");
    actor.run("[pathlib.Path(f'threads/{t}/a.json').write_text('[1]') for t in ('t1', 't2')]");
    actor.run("pathlib.Path('threads/t2/ws/f').write_bytes(b'x' * 100_000); os.mkdir('.snapshots/all')");
    actor.run("[pathlib.Path(f'threads/{t}/a.json').write_text('[2]') for t in ('t1', 't2')]");
    actor.run("shutil.rmtree('threads/t2/ws')");
    assert!(mount.threadfs(&["fork", "t2", "t3", "--at", "all"]).ok().starts_with("Made "));
    assert!(mount.threadfs(&["restore", "t2", "all"]).ok().contains("is as it was at all"));
    for thread in ["t2", "t3"] {
        assert_eq!(mount.read(&format!("threads/{thread}/a.json")), "[1]");
        assert_eq!(mount.read(&format!("threads/{thread}/ws/f")).len(), 100_000);
    }
    assert_eq!(mount.read("threads/t1/a.json"), "[2]", "the others stay as they are");
    // It keeps what the fork needs.
    actor.run("os.rmdir('.snapshots/all')");
    mount.remount_after(actor);
    assert_eq!(mount.read("threads/t3/ws/f").len(), 100_000);
}

#[test]
fn a_deleted_thread_comes_back_as_it_was_at_a_snapshot_of_everything() {
    let mount = Mount::new();
    mount.make("threads/t1");
    let actor = mount.actor();
    actor.run("pathlib.Path('threads/t1/a.json').write_text('[2]'); os.mkdir('.snapshots/before')");
    actor.run("pathlib.Path('threads/t1/a.json').write_text('[3]'); shutil.rmtree('threads/t1')");
    mount.threadfs(&["undelete", "t1", "--at", "before", "--mount", mount.path.to_str().unwrap()]).ok();
    assert_eq!(mount.read("threads/t1/a.json"), "[2]");
}
