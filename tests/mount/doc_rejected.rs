//! What is kept of a draft that was refused.

use crate::support::{Actor, DOC, Mount, wait_for};

const OLD: &str = "[\"old\"]";

fn spoil(writer: &Actor, path: &str, text: &str) {
    writer.run(&format!("f = open('{path}', 'w'); f.write('{text}')"));
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
}

#[test]
fn content_path_time_process_and_reason() {
    let mount = Mount::with_document(OLD);
    let writer = mount.actor();
    writer.run("before = time.time()");
    spoil(&writer, DOC, "[1, 2");
    let draft = mount.rejected_when(1).remove(0);
    let id = draft["id"].to_string();
    assert_eq!(draft["path"], DOC);
    assert_eq!(draft["pid"], writer.pid());
    assert_eq!(draft["bytes"], 5);
    assert_eq!(draft["count"], 1);
    assert!(draft["reason"].as_str().unwrap().starts_with("it is not JSON: EOF"), "{draft}");
    assert!(draft["command"].as_str().unwrap().contains("python3 -I"), "{draft}");
    writer.run(&format!(
        "import datetime; at = datetime.datetime.fromisoformat('{}').timestamp()",
        draft["time"].as_str().unwrap()
    ));
    assert!(writer.is("before - 1 <= at <= time.time() + 1"));
    assert_eq!(mount.read(&format!(".threadfs/rejected/{id}")), "[1, 2");
    assert_eq!(mount.command("rejected", &["show", &id]).ok(), "[1, 2");
    let attributes = writer.run(&format!(
        "[os.getxattr('.threadfs/rejected/{id}', 'user.threadfs.' + n).decode() for n in ('path', 'pid', 'reason')]"
    ));
    assert_eq!(attributes, serde_json::json!([DOC, writer.pid().to_string(), draft["reason"]]));
}

#[test]
fn one_line_in_the_log_and_one_in_the_status() {
    let mount = Mount::with_document(OLD);
    spoil(&mount.actor(), DOC, "{");
    mount.rejected_when(1);
    assert_eq!((mount.counted("rejected"), mount.counted("commits_rejected")), (1, 1));
    let log = mount.log_text();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(DOC)).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains(" WARN "), "{log}");
    let listed = mount.command("rejected", &[]).ok();
    assert!(listed.starts_with("ID  TIME") && listed.contains(DOC), "{listed}");
}

#[test]
fn owner_and_mode_are_those_of_the_document() {
    let mount = Mount::with_document(OLD);
    let root = mount.actor();
    root.run(&format!("os.chown('{DOC}', 1234, 1234); os.chmod('{DOC}', 0o600)"));
    let (owner, other) = (mount.actor_as(1234), mount.actor_as(1235));
    spoil(&owner, DOC, "[\"secret\"");
    let id = mount.rejected_when(1)[0]["id"].to_string();
    let path = format!(".threadfs/rejected/{id}");
    let stat = root.run(&format!("(lambda s: [s.st_mode & 0o7777, s.st_uid, s.st_gid, s.st_size])(os.stat('{path}'))"));
    assert_eq!(stat, serde_json::json!([0o600, 1234, 1234, 9]));
    assert_eq!(owner.text(&format!("open('{path}').read()")), "[\"secret\"");
    assert_eq!(other.fails(&format!("open('{path}')")), "EACCES");
    assert_eq!(owner.fails(&format!("open('{path}', 'w')")), "EROFS");
    assert_eq!(other.fails(&format!("os.unlink('{path}')")), "EPERM");
    owner.run(&format!("os.unlink('{path}')"));
    assert!(mount.rejected().is_empty());
}

#[test]
fn of_a_new_document_the_mode_is_that_of_open() {
    let mount = Mount::new();
    mount.make("threads/t");
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_CREAT, 0o600); os.write(fd, b'[')"));
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    let id = mount.rejected_when(1)[0]["id"].to_string();
    assert_eq!(writer.number(&format!("os.stat('.threadfs/rejected/{id}').st_mode & 0o7777")), 0o600);
}

#[test]
fn repeats_are_merged() {
    let mount = Mount::with_document(OLD);
    let writer = mount.actor();
    for n in 1..=5 {
        spoil(&writer, DOC, "[1,");
        wait_for("the repeat", || mount.rejected().first().is_some_and(|draft| draft["count"] == n));
    }
    assert_eq!(mount.rejected().len(), 1);
    spoil(&writer, DOC, "[2,");
    mount.rejected_when(2);
    writer.run("pathlib.Path('threads/t/other.json').write_text('[]')");
    spoil(&writer, "threads/t/other.json", "[2,");
    mount.rejected_when(3);
    assert_eq!(mount.counted("commits_rejected"), 7);
}

#[test]
fn the_limit_on_their_number() {
    let mount = Mount::with(&["rejected.max_count=3"]);
    mount.make("threads/t");
    let writer = mount.actor();
    for n in 0..6 {
        spoil(&writer, &format!("threads/t/{n}.json"), "[");
        wait_for("the draft", || mount.rejected().iter().any(|draft| draft["path"] == format!("threads/t/{n}.json")));
    }
    let kept: Vec<String> = mount.rejected().iter().map(|draft| draft["path"].as_str().unwrap().into()).collect();
    assert_eq!(kept, ["threads/t/3.json", "threads/t/4.json", "threads/t/5.json"]);
    assert_eq!(mount.list(".threadfs/rejected").len(), 4);
}

#[test]
fn the_limit_on_their_bytes() {
    let mount = Mount::with(&["rejected.max_bytes=10KiB"]);
    mount.make("threads/t");
    let writer = mount.actor();
    for n in 0..4 {
        writer.run(&format!("f = open('threads/t/{n}.json', 'w'); f.write('[' * 4000)"));
        assert_eq!(writer.fails("f.close()"), "EBADMSG");
        wait_for("the draft", || mount.rejected().iter().any(|draft| draft["path"] == format!("threads/t/{n}.json")));
    }
    assert_eq!(mount.rejected().len(), 2);
    writer.run("f = open('threads/t/large.json', 'w'); f.write('[' * 20000)");
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
    // One that alone is over the limit is not kept, and the log has told of it.
    wait_for("the line in the log", || mount.log_text().contains("large.json"));
    wait_for("the limit to hold", || {
        mount.rejected().iter().map(|d| d["bytes"].as_u64().unwrap()).sum::<u64>() <= 10240
    });
}

#[test]
fn they_are_deleted_one_by_one_and_all() {
    let mount = Mount::new();
    mount.make("threads/t");
    let writer = mount.actor();
    for n in 0..4 {
        spoil(&writer, &format!("threads/t/{n}.json"), "[");
        mount.rejected_when(n + 1);
    }
    let id = mount.rejected()[1]["id"].to_string();
    assert_eq!(mount.command("rejected", &["delete", &id]).ok(), format!("Deleted the rejected draft {id}.\n"));
    assert!(mount.command("rejected", &["delete", &id]).refused().contains("no rejected draft"));
    assert!(mount.command("rejected", &["show", "../status.json"]).refused().contains("no rejected draft"));
    assert_eq!(mount.rejected().len(), 3);
    writer.run(&format!("os.unlink('.threadfs/rejected/{}')", mount.rejected()[0]["id"]));
    assert_eq!(mount.rejected().len(), 2);
    assert_eq!(mount.command("rejected", &["delete", "--all"]).ok(), "Deleted 2 rejected drafts.\n");
    assert_eq!(mount.command("rejected", &["list"]).ok(), "No drafts are kept as rejected.\n");
    assert_eq!(mount.list(".threadfs/rejected"), ["index.json"]);
}

#[test]
fn they_survive_a_remount_and_a_crash() {
    let mount = Mount::with_document(OLD);
    spoil(&mount.actor(), DOC, "[1,");
    let before = mount.rejected_when(1);
    mount.remount();
    assert_eq!(mount.rejected(), before);
    mount.kill_daemon();
    mount.mount_again();
    assert_eq!(mount.rejected(), before);
    spoil(&mount.actor(), DOC, "[2,");
    let after = mount.rejected_when(2);
    assert!(after[1]["id"].as_u64() > after[0]["id"].as_u64());
}

#[test]
fn the_directory_can_be_listed_and_walked() {
    let mount = Mount::new();
    mount.make("threads/t");
    let writer = mount.actor();
    writer.run(
        "for n in range(1200):\n\
        \x20   fd = os.open(f'threads/t/{n % 300}.json', os.O_WRONLY | os.O_CREAT); os.write(fd, b'[%d,' % n)\n\
        \x20   try: os.close(fd)\n\
        \x20   except OSError: pass",
    );
    // The default limit.
    wait_for("the drafts", || mount.counted("commits_rejected") == 1200);
    assert_eq!(mount.list(".threadfs/rejected").len(), 1001);
    assert_eq!(mount.rejected().len(), 1000);
    assert!(writer.is("all(os.stat(e.path).st_size > 0 for e in os.scandir('.threadfs/rejected'))"));
    assert!(mount.command("rejected", &["delete", "--all"]).ok().starts_with("Deleted 1000 "));
}

#[test]
fn a_draft_that_is_too_large_for_one_write_is_kept_whole() {
    let mount = Mount::with_document(OLD);
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'wb'); data = b'[' + b'1, ' * 1_000_000; f.write(data)"));
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
    let id = mount.rejected_when(1)[0]["id"].to_string();
    assert!(writer.is(&format!("open('.threadfs/rejected/{id}', 'rb').read() == data")));
}
