//! Status and metrics.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{DOC, Mount, Requests, wait_for};

#[test]
fn status_json_tells_what_is() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    actor.run("os.makedirs('users/7/threads/u'); lock = open('threads/t/sandbox.lock', 'w'); fcntl.flock(lock, fcntl.LOCK_EX)");
    actor.run(&format!("f = open('{DOC}', 'w'); f.write('[2'); f.flush()"));
    let status = mount.status();
    let text = |name: &str| status[name].as_str().unwrap_or_else(|| panic!("{name}: {status}")).to_owned();
    let number = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}"));
    assert_eq!(text("version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(text("engine"), "rocksdb");
    assert_eq!(text("store"), mount.store.to_str().unwrap());
    assert_eq!(text("mountpoint"), mount.path.to_str().unwrap());
    assert_eq!(number("pid"), u64::from(mount.pid()));
    assert_eq!((number("threads"), number("drafts"), number("locks"), number("rejected")), (2, 1, 1, 0));
    // The root, threads, t, two files, users, 7, threads, u.
    assert_eq!(number("inodes"), 9);
    assert!(number("bytes") > 0 && number("uptime_s") < 600 && number("store_bytes") > 0, "{status}");
    let printed: serde_json::Value = serde_json::from_str(&mount.command("status", &["--json"]).ok()).unwrap();
    assert_eq!(printed["pid"], status["pid"]);
    let human = mount.command("status", &[]).ok();
    for word in ["mountpoint", "rocksdb", "threads", "locks held", "open drafts", "rejected"] {
        assert!(human.contains(word), "{human}");
    }
}

#[test]
fn counts_go_down_again() {
    let mount = Mount::new();
    let before = mount.status();
    let actor = mount.actor();
    actor.run("for n in range(10): os.makedirs(f'threads/t{n}/user-data'); pathlib.Path(f'threads/t{n}/a.json').write_text('[]')");
    actor.run("pathlib.Path('threads/t0/user-data/big').write_bytes(b'x' * 5_000_000)");
    assert_eq!(mount.counted("threads"), 10);
    assert!(mount.counted("bytes") >= 5_000_000);
    actor.run("shutil.rmtree('threads')");
    for name in ["threads", "inodes", "bytes"] {
        assert_eq!(mount.counted(name), before[name].as_u64().unwrap(), "{name}");
    }
    mount.remount_after(actor);
    for name in ["threads", "inodes", "bytes"] {
        assert_eq!(mount.counted(name), before[name].as_u64().unwrap(), "{name}");
    }
}

/// A page of the Prometheus text format: the types by name, and the samples.
fn parse(page: &str) -> (BTreeMap<String, String>, BTreeMap<String, f64>) {
    let (mut types, mut samples, mut helped) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    assert!(page.ends_with('\n'));
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let name = rest.split_once(' ').unwrap().0;
            assert!(helped.insert(name.to_owned()), "{name} twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(helped.contains(name), "{line}");
            assert!(types.insert(name.to_owned(), kind.to_owned()).is_none(), "{line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let family = name.split('{').next().unwrap();
            let known = types.contains_key(family)
                || ["_bucket", "_sum", "_count"].iter().any(|end| {
                    family.strip_suffix(end).is_some_and(|base| types.get(base).is_some_and(|kind| kind == "histogram"))
                });
            assert!(known, "{line}");
            assert!(family.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
            assert!(samples.insert(name.to_owned(), value.parse().unwrap()).is_none(), "{line} twice");
        }
    }
    (types, samples)
}

#[test]
fn metrics_are_prometheus_text_and_count() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    let before = parse(&mount.read(".threadfs/metrics")).1;
    actor.run(&format!("for n in range(10): pathlib.Path('{DOC}').write_text('[2]')"));
    actor.run(&format!("f = open('{DOC}', 'w'); f.write('[')"));
    assert_eq!(actor.fails("f.close()"), "EBADMSG");
    actor.run("pathlib.Path('big').write_bytes(b'x' * 1_000_000)");
    wait_for("the rejected draft", || mount.counted("rejected") == 1);
    let (types, after) = parse(&mount.read(".threadfs/metrics"));
    let rise = |name: &str| {
        let value = |samples: &BTreeMap<String, f64>| *samples.get(name).unwrap_or_else(|| panic!("no {name}"));
        value(&after) - value(&before)
    };
    assert_eq!(rise("threadfs_commits_total"), 10.0);
    assert_eq!(rise("threadfs_commits_rejected_total"), 1.0);
    assert!(rise("threadfs_operations_total{op=\"flush\"}") >= 11.0);
    assert!(rise("threadfs_operation_errors_total{op=\"flush\"}") >= 1.0);
    for name in
        ["threadfs_open_drafts", "threadfs_locks", "threadfs_store_bytes", "threadfs_threads", "threadfs_inodes"]
    {
        assert_eq!(types.get(name).map(String::as_str), Some("gauge"), "{name}");
    }
    let written: Vec<&String> = types.keys().filter(|name| name.contains("bytes") && name.contains("writ")).collect();
    assert_eq!(written.len(), 1, "{:?}", types.keys());
    assert!(rise(written[0]) >= 1_000_000.0);
    // Each histogram's last bucket is its count, and no bucket is above the next.
    for (name, count) in after.iter().filter(|(name, _)| name.starts_with("threadfs_operation_seconds_count")) {
        let op = name.split('"').nth(1).unwrap();
        let last = after[&format!("threadfs_operation_seconds_bucket{{op=\"{op}\",le=\"+Inf\"}}")];
        assert_eq!(last, *count, "{op}");
        let prefix = format!("threadfs_operation_seconds_bucket{{op=\"{op}\",le=\"");
        let mut buckets: Vec<(f64, f64)> = after
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?.strip_suffix("\"}")?.to_owned(), *value)))
            .map(|(limit, value)| (if limit == "+Inf" { f64::INFINITY } else { limit.parse().unwrap() }, value))
            .collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.is_sorted_by(|a, b| a.1 <= b.1), "{op}: {buckets:?}");
        assert!(buckets.len() > 5);
    }
}

#[test]
fn every_operation_of_the_protocol_is_counted() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run(
        "os.mkdir('d'); os.symlink('x', 'ln'); os.readlink('ln'); os.mkfifo('p'); pathlib.Path('f').write_text('abc')",
    );
    actor.run("os.link('f', 'g'); os.rename('g', 'h'); os.chmod('f', 0o600); os.setxattr('f', 'user.a', b'1')");
    actor.run("os.getxattr('f', 'user.a'); os.listxattr('f'); os.removexattr('f', 'user.a'); os.statvfs('.'); os.listdir('.')");
    actor.run(
        "fd = os.open('f', os.O_RDWR); os.read(fd, 3); os.lseek(fd, 0, os.SEEK_HOLE); os.posix_fallocate(fd, 0, 10)",
    );
    actor.run("g = os.open('g', os.O_RDWR | os.O_CREAT); os.copy_file_range(fd, g, 3, 0); os.fsync(g); os.close(g); os.close(fd)");
    actor.run("d = os.open('d', os.O_RDONLY); os.fsync(d); os.close(d); os.rmdir('d'); os.unlink('h'); [e.stat(follow_symlinks=False) for e in os.scandir('.')]");
    actor.run("os.makedirs('threads/t'); f = open('threads/t/a.json', 'w'); f.write('[]'); f.close()");
    let seen = Requests::of(&mount.path);
    let silent: Vec<&String> = seen.0.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name).collect();
    let allowed = ["readdir", "release", "getattr"];
    assert!(silent.iter().all(|name| allowed.contains(&name.as_str())), "{silent:?}");
}
