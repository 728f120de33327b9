//! What a user can set about documents.

use crate::support::{DOC, Mount};

#[test]
fn on_invalid_accept_turns_validation_off() {
    let mount = Mount::with(&["documents.on_invalid=accept"]);
    mount.make("threads/t");
    let writer = mount.actor();
    for text in ["", "not json", "[1"] {
        writer.run(&format!("f = open('{DOC}', 'w'); f.write('{text}'); f.close()"));
        assert_eq!(mount.read(DOC), text);
    }
    // Still a document: nobody sees a draft.
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('half'); f.flush()"));
    assert_eq!(mount.read(DOC), "[1");
    writer.run("f.close()");
    assert_eq!(mount.read(DOC), "half");
    writer.run(&format!("pathlib.Path('threads/t/x').write_text('x'); os.replace('threads/t/x', '{DOC}')"));
    assert_eq!(mount.read(DOC), "x");
    writer.run(&format!("os.truncate('{DOC}', 0)"));
    assert_eq!(mount.read(DOC), "");
    assert_eq!(writer.number("subprocess.run(['touch', 'threads/t/new.json']).returncode"), 0);
    assert_eq!(mount.read("threads/t/new.json"), "");
    assert!(mount.rejected().is_empty());
}

#[test]
fn allow_nan_takes_what_python_writes() {
    let mount = Mount::with(&["documents.allow_nan"]);
    mount.make("threads/t");
    let writer = mount.actor();
    writer
        .run(&format!("f = open('{DOC}', 'w'); json.dump([float('nan'), float('inf'), float('-inf')], f); f.close()"));
    assert_eq!(mount.read(DOC), "[NaN, Infinity, -Infinity]");
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('[nan]')"));
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
}

#[test]
fn other_patterns() {
    let mount = Mount::with(&[r#"documents.patterns=["threads/*/state/*.{json,js}", "global.json"]"#]);
    mount.make("threads/t/state");
    let writer = mount.actor();
    for document in ["threads/t/state/a.json", "threads/t/state/b.js", "global.json"] {
        writer.run(&format!("f = open('{document}', 'w'); f.write('x')"));
        assert_eq!(writer.fails("f.close()"), "EBADMSG", "{document}");
    }
    for ordinary in ["threads/t/a.json", "threads/t/state/a.txt", "a.json"] {
        writer.run(&format!("f = open('{ordinary}', 'w'); f.write('x'); f.close()"));
        assert_eq!(mount.read(ordinary), "x");
    }
}

#[test]
fn patterns_may_change_between_mounts() {
    let mount = Mount::builder().config("").mount();
    mount.make("threads/t");
    std::fs::write(mount.at("threads/t/a.txt"), "not json").unwrap();
    std::fs::write(mount.at(DOC), "[1]").unwrap();
    mount.unmount();
    let file = mount.path.with_file_name("threadfs.toml");
    std::fs::write(&file, "[documents]\npatterns = [\"threads/*/*.txt\"]\n").unwrap();
    mount.mount_again();
    // What is invalid from before can be read, and not be written so again.
    assert_eq!(mount.read("threads/t/a.txt"), "not json");
    let writer = mount.actor();
    writer.run("f = open('threads/t/a.txt', 'a'); f.write('!')");
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY); os.pwrite(fd, b'x', 1); os.close(fd)"));
    assert_eq!(mount.read(DOC), "[x]");
    writer.run("pathlib.Path('threads/t/a.txt').write_text('{}')");
    assert_eq!(mount.read("threads/t/a.txt"), "{}");
    drop(writer);
    mount.unmount();
    std::fs::write(&file, "").unwrap();
    mount.mount_again();
    let writer = mount.actor();
    assert_eq!(mount.read(DOC), "[x]");
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[2]')"));
    writer.run("fd = os.open('threads/t/a.txt', os.O_WRONLY); os.pwrite(fd, b'[', 0); os.close(fd)");
    assert_eq!((mount.read(DOC), mount.read("threads/t/a.txt")), ("[2]".into(), "[}".into()));
}

#[test]
fn the_durable_mode_makes_no_other_difference() {
    let mount = Mount::with(&["durability.mode=sync"]);
    mount.make("threads/t");
    let writer = mount.actor();
    for n in 0..20 {
        writer.run(&format!("pathlib.Path('{DOC}').write_text('[{n}]')"));
        assert_eq!(mount.read(DOC), format!("[{n}]"));
    }
    mount.kill_daemon();
    drop(writer);
    mount.mount_again();
    assert_eq!(mount.read(DOC), "[19]");
}

#[test]
fn the_memory_engine_behaves_the_same() {
    let mount = Mount::builder().memory().mount();
    mount.make("threads/t");
    let writer = mount.actor();
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[1]'); f = open('{DOC}', 'w'); f.write('[')"));
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(mount.status()["engine"], "memory");
    assert_eq!(mount.status()["store"], "memory:");
}

#[test]
fn kept_versions_are_thinned_and_space_comes_back() {
    let mount = Mount::with(&["documents.versions=5"]);
    mount.make("threads/t");
    let writer = mount.actor();
    writer.run(&format!("for n in range(50): pathlib.Path('{DOC}').write_text(json.dumps([n] * 1000))"));
    assert!(mount.read(DOC).starts_with("[49, 49"));
    // The live content alone counts.
    assert!(mount.counted("bytes") < 10_000, "{}", mount.status());
}

#[test]
fn versions_over_their_age_go_with_the_next_commit() {
    let mount = crate::support::Mount::with(&["documents.versions_age=1s", "snapshots.auto=off"]);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("for n in range(5): pathlib.Path('threads/t/a.json').write_text(f'[{n}]')");
    // Time itself is what is tested: two seconds make every version older than one.
    actor.run("time.sleep(2.1); pathlib.Path('threads/t/a.json').write_text('[5]')");
    drop(actor);
    mount.unmount();
    let spec = threadfs::engine::StoreSpec::Directory(mount.store.clone());
    let engine = threadfs::engine::open(&spec, &threadfs::engine::EngineOptions::default()).unwrap();
    let mut versions = 0;
    let (from, to) = ([b'V'], [b'V' + 1]);
    engine
        .scan(threadfs::engine::Keyspace::Meta, &from, &to, &mut |_, _| {
            versions += 1;
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(versions, 1);
    let store = threadfs::store::Store::open(engine).unwrap();
    assert!(threadfs::store::check::check(&store).unwrap().is_clean());
}
