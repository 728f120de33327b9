//! SQLite from several processes.

use serde_json::json;

use crate::support::{Mount, scaled};

#[track_caller]
fn from_three_processes(journal: &str) {
    let mount = Mount::new();
    mount.make("data");
    let rows = scaled(60, 400);
    let result = mount.python(include_str!("py/sqlite.py"), &[journal, "3", &rows.to_string()]);
    assert_eq!(result, json!({"mode": journal, "rows": rows * 3, "integrity": "ok", "errors": []}));
    mount.remount();
    let actor = mount.actor();
    actor.run("db = sqlite3.connect('data/deerflow.db')");
    assert_eq!(actor.text("db.execute('pragma integrity_check').fetchone()[0]"), "ok");
    assert_eq!(actor.number("db.execute('select count(*) from t').fetchone()[0]"), rows as i64 * 3);
}

#[test]
fn write_ahead_log() {
    from_three_processes("wal");
}

#[test]
fn rollback_journal() {
    from_three_processes("delete");
}

#[test]
fn truncated_and_persistent_journals() {
    from_three_processes("truncate");
    from_three_processes("persist");
}

#[test]
fn a_killed_writer_leaves_a_database_that_recovers() {
    let mount = Mount::new();
    mount.make("data");
    for mode in ["wal", "delete"] {
        let (writer, reader) = (mount.actor(), mount.actor());
        writer.run(&format!("db = sqlite3.connect('data/{mode}.db', isolation_level=None)"));
        writer.run(&format!("db.execute('pragma journal_mode={mode}'); db.execute('create table t (x)')"));
        writer.run("db.execute('insert into t values (1)')");
        writer.run("db.execute('pragma cache_size=1'); db.execute('begin')");
        writer.run("for n in range(2000): db.execute('insert into t values (?)', ('x' * 500,))");
        writer.kill();
        reader.run(&format!("db = sqlite3.connect('data/{mode}.db')"));
        assert_eq!(reader.number("db.execute('select count(*) from t').fetchone()[0]"), 1, "{mode}");
        assert_eq!(reader.text("db.execute('pragma integrity_check').fetchone()[0]"), "ok", "{mode}");
    }
}
