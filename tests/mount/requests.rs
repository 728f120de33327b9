//! Round trips to the daemon, counted.

use crate::support::{Actor, DOC, Mount, Requests};

/// What a step and a look at the metrics take together.
#[track_caller]
fn once(mount: &Mount, actor: &Actor, step: &str) -> Requests {
    let before = Requests::of(&mount.path);
    actor.run(step);
    Requests::of(&mount.path).since(&before)
}

/// The requests of a step alone, done often enough that what happens once does not matter, and
/// but for the IOCTL by which each open() of Python asks whether it has got a terminal.
#[track_caller]
fn alone(mount: &Mount, actor: &Actor, step: &str) -> Requests {
    // Names are looked up and attributes cached before.
    actor.run(step);
    let least = |step: &str| {
        let seen: Vec<Requests> = (0..3).map(|_| once(mount, actor, step)).collect();
        let names = seen[0].0.keys().cloned();
        let count = |name: &String| seen.iter().map(|requests| requests.count(name)).min().unwrap();
        Requests(names.map(|name| (name.clone(), count(&name))).collect())
    };
    let (mut requests, overhead) = (least(step), least("None"));
    for (name, count) in &mut requests.0 {
        *count = count.saturating_sub(overhead.count(name));
    }
    requests.0.retain(|name, count| *count > 0 && name != "ioctl");
    requests
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

/// What DeerFlow does to save.
fn save() -> String {
    format!("os.makedirs('threads/t', exist_ok=True); pathlib.Path('{DOC}').write_text(json.dumps({{'a': 1}}))")
}

#[test]
fn a_save_is_at_most_six() {
    let mount = Mount::with_document(r#"{"sandbox_id": "abc"}"#);
    let actor = mount.actor();
    let load = format!("os.path.exists('{DOC}') and pathlib.Path('{DOC}').read_text()");
    let loaded = alone(&mount, &actor, &load);
    let mut seen = alone(&mount, &actor, &format!("{load}; {}", save()));
    for (name, count) in &mut seen.0 {
        *count = count.saturating_sub(loaded.count(name));
    }
    // LOOKUP (mkdir asks for what exists), OPEN, GETXATTR (O_TRUNC), GETATTR (fstat), WRITE, FLUSH.
    assert!(seen.count("write") == 1 && seen.count("flush") == 1 && seen.total() <= 6, "{seen:?}");
}

#[test]
fn a_save_right_after_a_save_asks_for_the_mode_once_more() {
    let mount = Mount::with_document(r#"{"sandbox_id": "abc"}"#);
    let actor = mount.actor();
    // During the draft of the first one, attributes could not be kept.
    let seen = alone(&mount, &actor, &save());
    assert!(seen.count("write") == 1 && seen.count("flush") == 1 && seen.total() <= 7, "{seen:?}");
}

#[test]
fn a_first_save_is_at_most_six_beside_the_directory() {
    let mount = Mount::new();
    mount.make("threads");
    let actor = mount.actor();
    actor.run("n = 0; os.listdir('threads')");
    let step = "n += 1; p = pathlib.Path(f'threads/t{n}'); p.mkdir(parents=True, exist_ok=True); (p / 'sandbox.json').write_text('[1]')";
    let seen = alone(&mount, &actor, step);
    // LOOKUP and MKDIR of the directory, LOOKUP, CREATE, WRITE and FLUSH of the document, and
    // GETATTR of the file and of the two directories that have changed.
    assert!(seen.count("mkdir") == 1 && seen.count("create") == 1 && seen.total() <= 9, "{seen:?}");
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
