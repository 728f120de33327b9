//! POSIX access control lists where a local disk has nothing to compare with: documents' drafts, the past of
//! a thread, and what the kernel keeps. The rest is in tests/workload/acl.rs.

use std::process::Command;

use crate::support::{Actor, DOC, Mount, Requests, run};

/// The lists of a file in short.
fn list(mount: &Mount, path: &str) -> String {
    let mut command = Command::new("getfacl");
    command.args(["-cpnE", path]).current_dir(&mount.path);
    run(&mut command, std::time::Duration::from_secs(20)).ok().trim().replace('\n', " ")
}

fn set(actor: &Actor, arguments: &str) {
    actor.run(&format!("subprocess.run('setfacl {arguments}', shell=True, check=True)"));
}

const NAMED: &str = "user::rw- user:1234:rw- group::r-- mask::rw- other::---";

#[test]
fn a_document_begins_with_the_default_list_when_it_is_opened() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    set(&actor, "-d -m u:1234:rw,g::r,o::- threads/t");
    actor.run(&format!("os.umask(0o077); f = open('{DOC}', 'w'); f.write('{{}}')"));
    // It is there for its creator before its first commit, with its list.
    assert!(actor.is("'system.posix_acl_access' in os.listxattr(f.fileno())"));
    set(&actor, "-d -m u:77:rw threads/t");
    actor.run("f.close()");
    assert_eq!(list(&mount, DOC), NAMED);
    // A further commit keeps it, a new file renamed onto it has its own.
    actor.run(&format!("pathlib.Path('{DOC}').write_text('[]'); pathlib.Path('threads/t/x').write_text('[1]')"));
    assert_eq!(list(&mount, DOC), NAMED);
    set(&actor, "-b threads/t/x");
    actor.run(&format!("os.rename('threads/t/x', '{DOC}')"));
    assert_eq!(list(&mount, DOC), "user::rw- group::r-- other::---");
    mount.remount_after(actor);
    assert!(list(&mount, "threads/t").contains("default:user:77:rw-"));
}

#[test]
fn lists_of_a_document_that_is_not_there_yet() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    let path = "/proc/self/fd/{f.fileno()}";
    actor.run(&format!("f = open('{DOC}', 'w'); f.write('{{}}')"));
    let on_it = |what: &str| format!("subprocess.run(f'{what} {path}', shell=True, check=True, pass_fds=[f.fileno()])");
    actor.run(&on_it("setfacl -m u:1234:rw,o::-"));
    actor.run("os.fchmod(f.fileno(), 0o640)");
    actor.run("f.close()");
    assert_eq!(list(&mount, DOC), "user::rw- user:1234:rw- group::r-- mask::r-- other::---");
    // Back to what the mode can say.
    actor.run("f = open('threads/t/other.json', 'w'); f.write('{}')");
    actor.run(&on_it("setfacl -m u:1234:rw"));
    actor.run(&on_it("setfacl -b"));
    actor.run("f.close()");
    assert!(actor.is("os.listxattr('threads/t/other.json') == []"));
}

#[test]
fn a_thread_keeps_its_lists_through_snapshot_restore_fork_and_removal() {
    let mount = Mount::with_document("{}");
    let actor = mount.actor();
    actor.run(&format!(
        "os.mkdir('threads/t/d'); pathlib.Path('threads/t/d/f').write_text('x'); os.chmod('{DOC}', 0o640)"
    ));
    actor.run("os.chmod('threads/t/d/f', 0o640); os.chmod('threads/t', 0o750)");
    set(&actor, &format!("-m u:1234:rw {DOC} threads/t/d/f && setfacl -m u:1234:rx threads/t threads/t/d"));
    set(&actor, "-d -m u:1234:rx threads/t/d");
    actor.run("os.mkdir('threads/t/.snapshots/with')");
    let user = mount.actor_as(1234);
    user.run(&format!("open('{DOC}').read(), open('threads/t/d/f').read(), os.listdir('threads/t/d')"));
    let past = "threads/t/.snapshots/with";
    user.run(&format!("open('{past}/sandbox.json').read(), open('{past}/d/f').read()"));
    set(&actor, &format!("-b {DOC} threads/t/d/f threads/t/d"));
    // What the kernel has kept of them holds no more.
    assert_eq!(user.fails(&format!("open('{DOC}')")), "EACCES");
    assert_eq!(user.fails("open('threads/t/d/f')"), "EACCES");
    // The past stays as it was.
    assert_eq!(list(&mount, &format!("{past}/sandbox.json")), NAMED);
    user.run(&format!("open('{past}/sandbox.json').read()"));
    assert_eq!(actor.fails(&format!("os.removexattr('{past}/d', 'system.posix_acl_default')")), "EROFS");
    let told = mount.threadfs(&["diff", "t", "with"]).ok();
    assert!(told.contains("~ sandbox.json  (") && told.contains("xattrs"), "{told}");
    assert!(told.contains("~ d  (") && told.contains("~ d/f  ("), "{told}");
    mount.threadfs(&["restore", "t", "with"]).ok();
    user.run(&format!("open('{DOC}').read(), open('threads/t/d/f').read(), os.listdir('threads/t/d')"));
    assert!(list(&mount, "threads/t/d").contains("default:user:1234:r-x"));
    assert_eq!(list(&mount, DOC), NAMED);
    // A fork begins with them, and goes its own way.
    mount.threadfs(&["fork", "t", "branch"]).ok();
    assert_eq!(list(&mount, "threads/branch/sandbox.json"), NAMED);
    set(&actor, "-b threads/branch/sandbox.json");
    assert_eq!(list(&mount, DOC), NAMED);
    user.run("open('threads/branch/d/f').read()");
    actor.run("shutil.rmtree('threads/t')");
    mount.threadfs(&["undelete", "t", "--at", "with"]).ok();
    assert_eq!(list(&mount, DOC), NAMED);
    assert!(list(&mount, "threads/t").contains("user:1234:r-x"));
    user.run(&format!("open('{DOC}').read(), open('threads/t/d/f').read()"));
}

#[test]
fn a_restore_of_nothing_but_lists_holds_at_once() {
    let mount = Mount::with_document("{}");
    let (actor, user) = (mount.actor(), mount.actor_as(1234));
    actor.run(&format!("os.mkdir('threads/t/d'); os.chmod('threads/t/d', 0o770); os.chmod('{DOC}', 0o660); os.mkdir('threads/t/.snapshots/without')"));
    set(&actor, &format!("-m u:1234:rwx threads/t/d {DOC}"));
    user.run(&format!("os.listdir('threads/t/d'); open('{DOC}').read()"));
    mount.threadfs(&["restore", "t", "without"]).ok();
    assert_eq!(user.fails("os.listdir('threads/t/d')"), "EACCES");
    assert_eq!(user.fails(&format!("open('{DOC}').read()")), "EACCES");
    assert_eq!(list(&mount, "threads/t/d"), "user::rwx group::rwx other::---");
}

/// The owner's rights are in the mode. For others the kernel asks once, and keeps that there is no list; but
/// not of the root of the mount, and a document's attributes it keeps until the next read.
#[test]
fn a_list_is_asked_for_once_and_only_for_others() {
    let mount = Mount::with_document("{}");
    let (root, user) = (mount.actor(), mount.actor_as(1234));
    root.run("os.makedirs('d/e'); pathlib.Path('d/e/f').write_text('x')");
    let asked = |actor: &Actor, step: &str| {
        let before = Requests::of(&mount.path);
        actor.run(step);
        Requests::of(&mount.path).since(&before).count("getxattr")
    };
    let through_the_root = format!("for n in range(9): os.stat('d/e/f'); open('d/e/f').read(); open('{DOC}').read()");
    assert_eq!(asked(&root, &through_the_root), 0);
    assert!(asked(&user, "os.stat('d/e/f')") > 0);
    assert!(asked(&user, "for n in range(9): os.stat('d/e/f')") <= 9);
    let below = "for n in range(9): os.stat('e/f'); open('e/f').read(); os.listdir('e')";
    user.run(&format!("os.chdir('d')\n{below}"));
    assert_eq!(asked(&user, below), 0);
    user.run("os.chdir('../threads/t'); open('sandbox.json').read()");
    assert!(asked(&user, "for n in range(9): open('sandbox.json').read()") <= 9);
}

#[test]
fn capabilities_count_where_programs_may_have_them() {
    let mount = Mount::with(&["suid"]);
    let (root, user) = (mount.actor(), mount.actor_as(1234));
    root.run("pathlib.Path('secret').write_text('s'); os.chmod('secret', 0o600); shutil.copy('/bin/cat', 'cat')");
    let cat = "subprocess.run(['./cat', 'secret'], stdout=-1, stderr=-1).stdout";
    assert_eq!(user.text(cat), "");
    root.run("subprocess.run(['setcap', 'cap_dac_override+ep', 'cat'], check=True)");
    assert_eq!(user.text(cat), "s");
    root.run("os.chmod('cat', 0o4755); subprocess.run(['setcap', '-r', 'cat'], check=True)");
    assert_eq!(user.text(cat), "s");
}
