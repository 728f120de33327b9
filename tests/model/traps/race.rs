//! Several clients at once: nothing hangs, nothing is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use threadfs::engine::{Keyspace, View};
use threadfs::fs::{Fs, Node, RenameMode, SetAttr};
use threadfs::store::key;
use threadfs::store::record::{SnapshotKind, SnapshotRecord};

use super::blind::{Blind, Kernel};
use crate::support::*;

/// Far longer than it takes: only a deadlock gets there.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs something that may hang.
fn patiently(run: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let running = std::thread::spawn(move || {
        run();
        done.send(()).unwrap();
    });
    match wait.recv_timeout(PATIENCE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => running.join().unwrap(),
    }
}

/// What the daemon does beside the requests.
fn background(fs: &Fs, ended: &AtomicBool) {
    let record = SnapshotRecord::new(SnapshotKind::Home, Vec::new(), "");
    while !ended.load(Ordering::SeqCst) {
        let number = fs.store().take_home_snapshot(b"s", &record).unwrap();
        fs.tick();
        fs.status();
        fs.statfs().unwrap();
        fs.sync().unwrap();
        fs.store().drop_home_snapshot(number).unwrap();
        assert!(fs.store().collect().is_ok());
    }
}

#[test]
fn clients_that_know_nothing_of_each_other() {
    patiently(|| {
        let (engine, fs) = fresh();
        let kernel = Kernel::default();
        let ended = AtomicBool::new(false);
        for thread_name in ["a", "b"] {
            thread(&fs, thread_name);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| background(&fs, &ended));
            let clients: Vec<_> = (0..4)
                .map(|seed| {
                    let (fs, kernel) = (&fs, &kernel);
                    scope.spawn(move || {
                        let mut client = Blind::new(fs, kernel, seed + 1);
                        client.walk(&[b"threads", b"a"]);
                        client.walk(&[b"threads", b"b"]);
                        for _ in 0..4000 {
                            client.step();
                        }
                        client.finish();
                        client.errors
                    })
                })
                .collect();
            let errors: Vec<i32> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
            ended.store(true, Ordering::SeqCst);
            assert!(!errors.contains(&libc::EIO) && !errors.contains(&libc::EBADF), "{errors:?}");
        });
        while !fs.collect_for(Duration::from_secs(1)) {}
        assert_sound(&fs);
        // The first two threads are still known to who made them; nothing else is.
        let orphans = key::all(key::tag::ORPHAN);
        let found = engine.first(Keyspace::Meta, &orphans, &key::after(&orphans)).unwrap();
        let planted =
            |key: &[u8]| key::realm_of(key).is_some_and(|realm| realm.0 <= 2) || key::number_of(key) == Some(2);
        assert!(found.as_ref().is_none_or(|(key, _)| planted(key)), "an orphan that nobody knows: {found:?}");
        assert_eq!(fs.status().drafts, 0);
    });
}

/// What waits for a rename that makes a document of an open file finds a document.
#[test]
fn a_file_becomes_a_document_under_its_writer() {
    type Operation = fn(&Fs, Node, u64) -> threadfs::fs::Result<()>;
    let operations: [(&str, Operation); 6] = [
        ("write", |fs, _, fh| fs.write(fh, 0, b"<", 0, None).map(drop)),
        ("ftruncate", |fs, node, fh| {
            fs.setattr(USER, node, SetAttr { size: Some(1), ..SetAttr::default() }, Some(fh)).map(drop)
        }),
        ("truncate", |fs, node, _| {
            let done = fs.setattr(USER, node, SetAttr { size: Some(1), ..SetAttr::default() }, None);
            assert_eq!(errno(done), libc::EBADMSG);
            Ok(())
        }),
        ("fallocate", |fs, _, fh| {
            assert_eq!(errno(fs.fallocate(ROOT_USER, fh, 0, 1, libc::FALLOC_FL_ZERO_RANGE)), libc::EOPNOTSUPP);
            Ok(())
        }),
        ("copy_file_range", |fs, _, fh| {
            assert_eq!(errno(fs.copy_file_range(ROOT_USER, (fh, 0), (fh, 5), 2)), libc::EXDEV);
            Ok(())
        }),
        ("open with O_TRUNC", |fs, node, _| {
            let opened = fs.open(USER, node, libc::O_WRONLY | libc::O_TRUNC)?;
            assert!(opened.direct_io);
            fs.release(opened.fh);
            Ok(())
        }),
    ];
    for (name, operation) in operations {
        patiently(move || {
            let (engine, fs) = fresh();
            let t = thread(&fs, "t");
            let plain = file(&fs, t, "x.tmp", b"[1, 2, 3]");
            let fh = open(&fs, plain);
            let (start, begin) = mpsc::channel::<()>();
            // The rename reads it when it has the lock.
            engine.before_next_get(key::inode(plain.realm, plain.local), move || {
                start.send(()).unwrap();
                // Long enough for the other to get to the lock.
                std::thread::sleep(Duration::from_millis(100));
            });
            std::thread::scope(|scope| {
                let fs = &fs;
                let waits = scope.spawn(move || {
                    begin.recv().unwrap();
                    operation(fs, plain, fh)
                });
                fs.rename(ROOT_USER, (t, b"x.tmp"), (t, b"x.json"), RenameMode::Replace).unwrap();
                waits.join().unwrap().unwrap_or_else(|error| panic!("{name}: {error}"));
            });
            assert_eq!(content(&fs, plain), b"[1, 2, 3]", "{name}: changed in place");
            let _ = fs.flush(fh, u32::MAX);
            fs.release(fh);
            assert_eq!(content(&fs, plain), b"[1, 2, 3]", "{name}");
            assert_sound(&fs);
        });
    }
}

/// Opening a file for the first time while it becomes a document: the open file has a draft.
#[test]
fn a_file_becomes_a_document_while_it_is_opened() {
    patiently(|| {
        let (_, fs) = fresh();
        let t = thread(&fs, "t");
        for round in 0..2000 {
            let plain = file(&fs, t, "x.tmp", b"[1, 2, 3]");
            let fh = std::thread::scope(|scope| {
                let opener = scope.spawn(|| open(&fs, plain));
                fs.rename(ROOT_USER, (t, b"x.tmp"), (t, b"x.json"), RenameMode::Replace).unwrap();
                opener.join().unwrap()
            });
            fs.write(fh, 0, b"<", 0, None).unwrap();
            assert_eq!(content(&fs, plain), b"[1, 2, 3]", "round {round}: written in place");
            fs.release(fh);
            fs.unlink(ROOT_USER, t, b"x.json").unwrap();
            fs.forget(plain, 1);
        }
    });
}

/// Reading while the access times are written and the files go.
#[test]
fn access_times_of_files_that_go() {
    patiently(|| {
        let (engine, fs) = fresh();
        let ended = AtomicBool::new(false);
        let dirs: Vec<Node> = (0..3).map(|at| mkdir(&fs, Node::ROOT, &format!("d{at}"))).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::SeqCst) {
                    fs.sync().unwrap();
                }
            });
            let clients: Vec<_> = dirs
                .iter()
                .map(|dir| {
                    let fs = &fs;
                    scope.spawn(move || {
                        for _ in 0..3000 {
                            let plain = file(fs, *dir, "f", b"text");
                            content(fs, plain);
                            fs.unlink(ROOT_USER, *dir, b"f").unwrap();
                            fs.forget(plain, 1);
                        }
                    })
                })
                .collect();
            clients.into_iter().for_each(|client| client.join().unwrap());
            ended.store(true, Ordering::SeqCst);
        });
        fs.sync().unwrap();
        let mut left = Vec::new();
        let prefix = key::all(key::tag::ATIME);
        let mut add = |key: &[u8], _: &[u8]| {
            left.push(key.to_vec());
            std::ops::ControlFlow::Continue(())
        };
        engine.scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut add).unwrap();
        assert!(left.len() <= 4, "{} access times of what is gone", left.len());
        assert_sound(&fs);
    });
}

/// All creators of one document share it: nobody's close fails because another was quicker.
#[test]
fn a_document_with_several_creators() {
    patiently(|| {
        let (_, fs) = fresh();
        let t = thread(&fs, "t");
        // As the kernel has it: making and removing a name excludes that in the same directory.
        let names = std::sync::Mutex::new(());
        std::thread::scope(|scope| {
            for client in 0..3u64 {
                let (fs, names) = (&fs, &names);
                scope.spawn(move || {
                    for round in 0..3000 {
                        let made = names.lock().unwrap();
                        let flags = libc::O_RDWR | libc::O_TRUNC;
                        let (entry, opened) = fs.create(USER, t, b"x.json", 0o644, flags).unwrap();
                        drop(made);
                        fs.write(opened.fh, 0, format!("[{round}, {client}]").as_bytes(), 0, None).unwrap();
                        if (round + client) % 3 > 0 {
                            fs.flush(opened.fh, u32::MAX).unwrap_or_else(|error| panic!("round {round}: {error}"));
                        }
                        fs.release(opened.fh);
                        if (round + client) % 5 == 0 {
                            let _alone = names.lock().unwrap();
                            let _ = fs.unlink(ROOT_USER, t, b"x.json");
                        }
                        fs.forget(node(&entry), 1);
                    }
                });
            }
        });
        assert_eq!(fs.status().rejected, 0);
        assert_sound(&fs);
    });
}
