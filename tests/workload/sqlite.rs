//! A database with many readers and several writers.

use crate::places::same_as_on_the_disk;
use crate::support::scaled;

#[track_caller]
fn nobody_sees_half_a_transaction(mode: &str) {
    let steps = format!(r#"python3 "$steps/readers.py" {mode} {}; ls"#, scaled(5, 180));
    let told = same_as_on_the_disk(&steps);
    assert_eq!(told, format!("{mode} {{0}}\n{mode}.db\n"));
}

#[test]
fn write_ahead_log() {
    nobody_sees_half_a_transaction("wal");
}

#[test]
fn rollback_journal() {
    nobody_sees_half_a_transaction("delete");
}
