//! Locks between processes.

use std::time::{Duration, Instant};

use crate::support::{Actor, Mount, scaled, wait_for, within};

const LOCK: &str = "threads/t/sandbox.lock";

fn mount() -> Mount {
    let mount = Mount::new();
    mount.make("threads/t");
    mount
}

/// Commands by which a process opens the lock file, takes its lock and lets go.
struct Kind {
    name: &'static str,
    take: &'static str,
    attempt: &'static str,
    free: &'static str,
}

const FLOCK: Kind = Kind {
    name: "flock",
    take: "fcntl.flock(f, fcntl.LOCK_EX)",
    attempt: "fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)",
    free: "fcntl.flock(f, fcntl.LOCK_UN)",
};

const POSIX: Kind = Kind {
    name: "posix",
    take: "fcntl.lockf(f, fcntl.LOCK_EX)",
    attempt: "fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)",
    free: "fcntl.lockf(f, fcntl.LOCK_UN)",
};

const OFD: Kind = Kind {
    name: "ofd",
    take: "fcntl.fcntl(f, fcntl.F_OFD_SETLKW, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))",
    attempt: "fcntl.fcntl(f, fcntl.F_OFD_SETLK, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))",
    free: "fcntl.fcntl(f, fcntl.F_OFD_SETLK, struct.pack('hhqqi', fcntl.F_UNLCK, 0, 0, 0, 0))",
};

fn opened(mount: &Mount) -> Actor {
    let actor = mount.actor();
    actor.run(&format!("f = open('{LOCK}', 'w')"));
    actor
}

/// Waits until a process sleeps in a lock.
fn waits(mount: &Mount, actor: &Actor) {
    wait_for("a waiter", || {
        let locks = mount.control("locks.json");
        let locks = locks.as_array().unwrap();
        locks.iter().any(|lock| lock["state"] == "waiting" && (lock["pid"] == actor.pid() || lock["pid"] == 0))
    });
}

#[track_caller]
fn excludes(kind: &Kind) {
    let mount = mount();
    let (holder, other, waiter) = (opened(&mount), opened(&mount), opened(&mount));
    holder.run(kind.take);
    let refused = other.fails(kind.attempt);
    assert!(refused == "EAGAIN" || refused == "EACCES", "{}: {refused}", kind.name);
    waiter.begin(kind.take);
    waits(&mount, &waiter);
    assert!(waiter.is_busy());
    holder.run(kind.free);
    waiter.end().unwrap();
    other.fails(kind.attempt);
    waiter.run(kind.free);
    other.run(kind.attempt);
}

#[test]
fn flock_excludes_other_processes() {
    excludes(&FLOCK);
}

#[test]
fn fcntl_excludes_other_processes() {
    excludes(&POSIX);
}

#[test]
fn ofd_locks_exclude_other_processes() {
    excludes(&OFD);
}

#[track_caller]
fn dies_with_its_holder(kind: &Kind) {
    let mount = mount();
    let (holder, waiter) = (opened(&mount), opened(&mount));
    holder.run(kind.take);
    waiter.begin(kind.take);
    waits(&mount, &waiter);
    let began = Instant::now();
    holder.kill();
    waiter.end().unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{}: {:?}", kind.name, began.elapsed());
}

#[test]
fn flock_dies_with_its_holder() {
    dies_with_its_holder(&FLOCK);
}

#[test]
fn fcntl_locks_die_with_their_holder() {
    dies_with_its_holder(&POSIX);
}

#[test]
fn ofd_locks_die_with_their_holder() {
    dies_with_its_holder(&OFD);
}

#[track_caller]
fn is_interruptible(kind: &Kind) {
    let mount = mount();
    let (holder, waiter, killed) = (opened(&mount), opened(&mount), opened(&mount));
    holder.run(kind.take);
    waiter.begin(kind.take);
    waits(&mount, &waiter);
    let began = Instant::now();
    waiter.signal(libc::SIGINT);
    assert_eq!(waiter.end().unwrap_err().name, "KeyboardInterrupt", "{}", kind.name);
    assert!(began.elapsed() < Duration::from_secs(1), "{}: {:?}", kind.name, began.elapsed());
    killed.begin(kind.take);
    waits(&mount, &killed);
    let began = Instant::now();
    killed.kill();
    assert!(began.elapsed() < Duration::from_secs(1), "{}: {:?}", kind.name, began.elapsed());
    // Nobody left anything behind.
    holder.run(kind.free);
    waiter.run(kind.attempt);
}

#[test]
fn flock_is_interruptible() {
    is_interruptible(&FLOCK);
}

#[test]
fn fcntl_is_interruptible() {
    is_interruptible(&POSIX);
}

#[test]
fn ofd_is_interruptible() {
    is_interruptible(&OFD);
}

#[test]
fn shared_locks_and_byte_ranges() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    for actor in [&first, &second] {
        actor.run("f = open('data', 'a+b')");
        actor.run("fcntl.flock(f, fcntl.LOCK_SH)");
    }
    assert_eq!(second.fails("fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)"), "EAGAIN");
    first.run("fcntl.lockf(f, fcntl.LOCK_EX, 10, 0)");
    second.run("fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)");
    let refused = second.fails("fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 5)");
    assert!(refused == "EAGAIN" || refused == "EACCES", "{refused}");
    // F_GETLK tells who it is.
    second.run("q = fcntl.fcntl(f, fcntl.F_GETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 5, 0))");
    assert_eq!(second.number("struct.unpack('hhqqi4x', q)[4]"), i64::from(first.pid()));
    assert_eq!(second.number("struct.unpack('hhqqi4x', q)[3]"), 10);
}

#[test]
fn a_deadlock_of_fcntl_locks_is_found() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    for (actor, start) in [(&first, 0), (&second, 1)] {
        actor.run(&format!("f = open('data', 'a+b'); fcntl.lockf(f, fcntl.LOCK_EX, 1, {start})"));
    }
    first.begin("fcntl.lockf(f, fcntl.LOCK_EX, 1, 1)");
    waits(&mount, &first);
    assert_eq!(second.fails("fcntl.lockf(f, fcntl.LOCK_EX, 1, 0)"), "EDEADLK");
    second.run("fcntl.lockf(f, fcntl.LOCK_UN, 1, 1)");
    first.end().unwrap();
}

#[test]
fn close_frees_flock_with_the_last_duplicate_and_fcntl_with_any() {
    let mount = mount();
    let (holder, other) = (opened(&mount), opened(&mount));
    holder.run("fcntl.flock(f, fcntl.LOCK_EX); d = os.dup(f.fileno()); f.close()");
    assert_eq!(other.fails(FLOCK.attempt), "EAGAIN");
    holder.run("os.close(d)");
    other.run(FLOCK.attempt);
    holder.run(&format!("f = open('{LOCK}', 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); open('{LOCK}').close()"));
    other.run(POSIX.attempt);
}

#[test]
fn locks_json_and_the_command_tell_who_holds_and_who_waits() {
    let mount = mount();
    let (holder, waiter) = (opened(&mount), opened(&mount));
    assert_eq!(mount.command("locks", &[]).ok(), "No locks are held.\n");
    holder.run(FLOCK.take);
    waiter.begin(FLOCK.take);
    waits(&mount, &waiter);
    let locks = mount.control("locks.json");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for (state, pid) in [("held", holder.pid()), ("waiting", waiter.pid())] {
        let lock = locks.as_array().unwrap().iter().find(|lock| lock["state"] == state).unwrap();
        assert_eq!((lock["path"].as_str(), lock["kind"].as_str()), (Some(LOCK), Some("flock")), "{locks}");
        assert_eq!((lock["mode"].as_str(), lock["pid"].as_u64()), (Some("write"), Some(pid.into())), "{locks}");
        assert!(lock["command"].as_str().unwrap().contains("python3 -I"), "{locks}");
        assert_eq!(lock["host"], host.trim_end());
        assert!(lock["since"].as_str().unwrap().ends_with('Z'), "{locks}");
    }
    assert_eq!(mount.counted("locks"), 1);
    let table = mount.command("locks", &[]).ok();
    assert!(table.contains("held ") && table.contains("waiting ") && table.contains(LOCK), "{table}");
    let printed: serde_json::Value = serde_json::from_str(&mount.command("locks", &["--json"]).ok()).unwrap();
    assert_eq!(printed.as_array().unwrap().len(), 2);
    // The time that it was first seen stays.
    let since = locks[0]["since"].clone();
    assert_eq!(mount.control("locks.json")[0]["since"], since);
    holder.run(FLOCK.free);
    waiter.end().unwrap();
    waiter.run(FLOCK.free);
    assert_eq!(mount.control("locks.json"), serde_json::json!([]));
}

#[test]
fn locks_of_every_kind_and_place_show() {
    let mount = mount();
    let (first, second, third) = (opened(&mount), mount.actor(), mount.actor());
    first.run("fcntl.flock(f, fcntl.LOCK_SH)");
    second.run("f = open('plain', 'a+b'); fcntl.lockf(f, fcntl.LOCK_EX, 10, 5)");
    third.run("f = open('threads/t/x', 'a+b')");
    third.run(OFD.take);
    let locks = mount.control("locks.json");
    let find = |kind: &str| {
        locks.as_array().unwrap().iter().find(|lock| lock["kind"] == kind).unwrap_or_else(|| panic!("{locks}"))
    };
    assert_eq!((find("flock")["mode"].as_str(), find("flock")["path"].as_str()), (Some("read"), Some(LOCK)));
    assert_eq!((find("posix")["start"].as_u64(), find("posix")["end"].as_u64()), (Some(5), Some(14)));
    assert_eq!(find("posix")["path"], "plain");
    assert_eq!(find("ofd")["path"], "threads/t/x");
}

#[test]
fn sixty_waiters_in_one_queue() {
    let mount = mount();
    let result = mount.python(include_str!("py/queue.py"), &["60", "0.005"]);
    assert_eq!((result["done"].as_u64(), result["overlaps"].as_u64()), (Some(60), Some(0)), "{result}");
    // 0.3 s of holding; the rest is for a machine that does other things as well.
    assert!(result["seconds"].as_f64() < Some(2.0), "{result}");
    assert!(result["uncontended_us"].as_f64() < Some(1000.0), "{result}");
}

#[test]
fn polling_for_a_lock_does_not_load_the_daemon() {
    let mount = mount();
    let (holder, poller) = (opened(&mount), opened(&mount));
    holder.run(FLOCK.take);
    let before = crate::support::Requests::of(&mount.path);
    poller.run(&format!(
        "n = 0\nfor _ in range({}):\n    try: {}\n    except OSError: n += 1",
        scaled(1000, 100_000),
        FLOCK.attempt
    ));
    let seen = crate::support::Requests::of(&mount.path).since(&before);
    assert!(seen.total() < 20, "{seen:?}");
}

#[test]
fn a_lock_holder_that_unlinks_the_lock_file() {
    let mount = mount();
    let (holder, other) = (opened(&mount), mount.actor());
    holder.run(FLOCK.take);
    holder.run(&format!("os.unlink('{LOCK}')"));
    other.run(&format!("f = open('{LOCK}', 'w')"));
    // Another file, as on a local disk.
    other.run(FLOCK.attempt);
    assert!(within(Duration::from_secs(5), || mount.control("locks.json").as_array().unwrap().len() == 2));
}

#[test]
fn a_holder_in_a_pid_namespace_of_its_own() {
    let mount = mount();
    let (container, other) = (Actor::start_in_pid_namespace(&mount.path), opened(&mount));
    assert_eq!(container.number("os.getpid()"), 1);
    container.run(&format!("f = open('{LOCK}', 'w')"));
    container.run(FLOCK.take);
    assert_eq!(other.fails(FLOCK.attempt), "EAGAIN");
    let locks = mount.control("locks.json");
    // As numbered where the daemon runs.
    let pid = locks[0]["pid"].as_u64().unwrap();
    assert!(pid > 1 && pid != u64::from(container.pid()), "{locks}");
    assert!(locks[0]["command"].as_str().unwrap().contains("python3"), "{locks}");
    container.kill();
    wait_for("the lock to be free", || other.try_run(FLOCK.attempt).is_ok());
}
