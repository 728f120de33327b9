//! Branching off.

use crate::support::{Mount, NOBODY};

const QUIET: &[&str] = &["snapshots.auto=off"];

fn mount() -> Mount {
    let mount = Mount::with(QUIET);
    mount.make("threads/t/ws");
    mount.actor().run(
        "t = pathlib.Path('threads/t'); (t / 'sandbox.json').write_text('[1]'); (t / 'sandbox.lock').touch()\n\
         (t / 'ws/f').write_bytes(b'base' * 50_000); os.link(t / 'ws/f', t / 'ws/g'); os.setxattr(t / 'ws/f', 'user.a', b'1')",
    );
    mount
}

#[test]
fn both_sides_go_their_own_ways() {
    let mount = mount();
    let actor = mount.actor();
    actor.run("os.listdir('threads'); os.path.exists('threads/x')");
    assert_eq!(
        mount.threadfs(&["fork", "t", "x"]).ok(),
        format!("Made {} from threads/t.\n", mount.at("threads/x").display())
    );
    assert_eq!(mount.list("threads"), ["t", "x"]);
    actor.run(
        "x = pathlib.Path('threads/x'); t = pathlib.Path('threads/t'); old = (t / 'ws/f').read_bytes()\n\
         fd = os.open(x / 'ws/f', os.O_RDWR); os.pwrite(fd, b'FORK', 100_000)",
    );
    assert!(actor.is(
        "(x / 'ws/g').read_bytes() == old[:100_000] + b'FORK' + old[100_004:] and (t / 'ws/f').read_bytes() == old"
    ));
    actor.run("os.truncate(t / 'ws/f', 7); (t / 'sandbox.json').write_text('[2]'); os.unlink(x / 'ws/g')");
    assert!(actor.is("(x / 'ws/f').stat().st_size == 200_000 and (x / 'sandbox.json').read_text() == '[1]'"));
    assert!(actor.is("os.listdir(x / 'ws') == ['f'] and sorted(os.listdir(t / 'ws')) == ['f', 'g']"));
    assert!(actor.is("os.getxattr(x / 'ws/f', 'user.a') == b'1' and os.stat(x / 'ws/f').st_nlink == 1"));
    actor.run("(x / 'sandbox.json').write_text('[3]'); (x / 'new').write_text('n')");
    assert!(actor.is("(t / 'sandbox.json').read_text() == '[2]' and not (t / 'new').exists()"));
    // A lock of the one is none of the other.
    actor.run("import fcntl; a = open(t / 'sandbox.lock', 'w'); fcntl.flock(a, fcntl.LOCK_EX)");
    mount
        .actor()
        .run("import fcntl; b = open('threads/x/sandbox.lock', 'w'); fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)");
    mount.remount_after(actor);
    assert_eq!((mount.read("threads/x/sandbox.json"), mount.read("threads/x/new")), ("[3]".into(), "n".into()));
}

#[test]
fn a_fork_of_a_past_state_and_of_a_fork_outlives_its_parents() {
    let mount = mount();
    let actor = mount.actor();
    actor.run("t = pathlib.Path('threads/t'); os.mkdir(t / '.snapshots/s'); (t / 'sandbox.json').write_text('[2]')");
    mount.threadfs(&["fork", "t", "x", "--at", "s"]).ok();
    assert_eq!(mount.read("threads/x/sandbox.json"), "[1]");
    mount.threadfs(&["fork", "x", "y"]).ok();
    actor.run(
        "shutil.rmtree('threads/t'); (pathlib.Path('threads/y') / 'ws/h').write_text('h'); shutil.rmtree('threads/x')",
    );
    assert!(actor.is("pathlib.Path('threads/y/ws/f').read_bytes() == b'base' * 50_000"));
    assert!(actor.is("sorted(os.listdir('threads/y/ws')) == ['f', 'g', 'h']"));
    actor.run("os.mkdir('threads/y/.snapshots/z'); pathlib.Path('threads/y/ws/f').write_text('changed')");
    mount.threadfs(&["restore", "y", "z"]).ok();
    assert!(actor.is("pathlib.Path('threads/y/ws/g').read_bytes() == b'base' * 50_000"));
    drop(actor);
    mount.unmount();
    mount.threadfs(&["fsck", mount.store.to_str().unwrap()]).ok();
}

#[test]
fn what_is_refused() {
    let mount = mount();
    mount.make("threads/u");
    mount.make("elsewhere");
    let told = |arguments: &[&str]| mount.threadfs(arguments).refused();
    assert!(told(&["fork", "t", "u"]).contains("exists already"));
    assert!(told(&["fork", "t", "x", "--at", "nothing"]).contains("nothing"));
    assert!(told(&["fork", "nobody", "x"]).contains("nobody"));
    let outside = mount.at("elsewhere/x");
    assert!(told(&["fork", "t", outside.to_str().unwrap()]).contains("can be no thread"));
    let other = mount.actor_as(NOBODY);
    mount.actor().run("os.chmod('threads', 0o777)");
    let ino = other.number("os.stat('threads/t').st_ino");
    assert_eq!(other.fails(&format!("os.setxattr('threads', 'user.threadfs.fork', b'{ino}\\0\\0x')")), "EPERM");
    assert_eq!(mount.list("threads"), ["t", "u"]);
}
