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
