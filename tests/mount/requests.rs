//! Round trips to the daemon, counted.

use crate::support::{Actor, DOC, Mount, Requests};

/// The requests of a step, done often enough that what happens once does not matter.
#[track_caller]
fn requests(mount: &Mount, actor: &Actor, step: &str) -> Requests {
    // Names are looked up and attributes cached before.
    actor.run(step);
    let before = Requests::of(&mount.path);
    actor.run(step);
    Requests::of(&mount.path).since(&before)
}

/// The requests that two looks at the metrics make between them.
fn overhead(mount: &Mount) -> Requests {
    let before = Requests::of(&mount.path);
    Requests::of(&mount.path).since(&before)
}

/// The requests of a step alone.
#[track_caller]
fn alone(mount: &Mount, actor: &Actor, step: &str) -> Requests {
    overhead(mount);
    let overhead = overhead(mount);
    let mut seen = requests(mount, actor, step);
    for (name, count) in &mut seen.0 {
        *count = count.saturating_sub(overhead.count(name));
    }
    seen.0.retain(|_, count| *count > 0);
    seen
}

#[test]
fn a_load_is_open_and_two_reads_beside_one_stat() {
    let mount = Mount::with_document(r#"{"sandbox_id": "abc"}"#);
    let actor = mount.actor();
    let seen = alone(&mount, &actor, &format!("json.loads(pathlib.Path('{DOC}').read_text())"));
    assert!(seen.count("open") == 1 && seen.count("read") <= 2, "{seen:?}");
    assert!(seen.count("getattr") + seen.count("lookup") <= 1 && seen.total() <= 4, "{seen:?}");
}

#[test]
fn a_load_as_deerflow_does_it() {
    let mount = Mount::with_document(r#"{"sandbox_id": "abc"}"#);
    let actor = mount.actor();
    let seen = alone(&mount, &actor, &format!("p = pathlib.Path('{DOC}'); p.exists() and json.loads(p.read_text())"));
    assert!(seen.count("open") == 1 && seen.count("read") <= 2 && seen.total() <= 4, "{seen:?}");
}

#[test]
fn a_save_is_at_most_six() {
    let mount = Mount::with_document(r#"{"sandbox_id": "abc"}"#);
    let actor = mount.actor();
    let step =
        format!("os.makedirs('threads/t', exist_ok=True); pathlib.Path('{DOC}').write_text(json.dumps({{'a': 1}}))");
    let seen = alone(&mount, &actor, &step);
    assert!(seen.count("write") == 1 && seen.count("flush") == 1 && seen.total() <= 6, "{seen:?}");
    assert_eq!(seen.count("getxattr"), 0, "{seen:?}");
}

#[test]
fn a_first_save_is_at_most_six_beside_the_directory() {
    let mount = Mount::new();
    mount.make("threads");
    let actor = mount.actor();
    actor.run("n = 0; os.listdir('threads')");
    let step = "n += 1; p = pathlib.Path(f'threads/t{n}'); p.mkdir(parents=True, exist_ok=True); (p / 'sandbox.json').write_text('[1]')";
    let seen = alone(&mount, &actor, step);
    let beside = seen.count("mkdir");
    assert!(beside == 1 && seen.total() - beside <= 6 + 1, "{seen:?}");
}

#[test]
fn locks_and_cached_names_cost_nothing() {
    let mount = Mount::with_document("[]");
    let actor = mount.actor();
    actor.run("f = open('threads/t/sandbox.lock', 'w')");
    let seen = alone(&mount, &actor, "fcntl.flock(f, fcntl.LOCK_EX); fcntl.flock(f, fcntl.LOCK_UN)");
    assert_eq!(seen.total(), 0, "{seen:?}");
    actor.run("os.makedirs('d'); pathlib.Path('d/f').write_text('x')");
    let seen = alone(&mount, &actor, "for n in range(20): os.stat('d/f'); os.stat('d'); os.path.exists('d/no')");
    assert_eq!(seen.total(), 0, "{seen:?}");
    let seen = alone(&mount, &actor, &format!("for n in range(20): os.stat('{DOC}'); os.path.exists('{DOC}')"));
    assert_eq!(seen.total(), 0, "{seen:?}");
    let seen = alone(&mount, &actor, "for n in range(20): open('d/f').read()");
    assert!(seen.count("open") <= 20 && seen.total() <= 20 + seen.count("open"), "{seen:?}");
}

#[test]
fn a_cached_listing_costs_at_most_an_open() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.makedirs('d'); [open(f'd/{n}', 'w').close() for n in range(1000)]; os.listdir('d'); os.listdir('d')");
    let seen = alone(&mount, &actor, "assert len(os.listdir('d')) == 1000");
    assert_eq!(seen.count("readdir") + seen.count("readdirplus"), 0, "{seen:?}");
    let seen = alone(&mount, &actor, "assert all(e.stat().st_size == 0 for e in os.scandir('d'))");
    assert!(seen.count("getattr") + seen.count("lookup") == 0, "{seen:?}");
}
