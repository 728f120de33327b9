//! Many processes on one document.

use serde_json::{Value, json};

use crate::support::{Mount, scaled};

#[track_caller]
fn torn(size: &str, reads: u64) {
    let mount = Mount::new();
    let result = mount.python(include_str!("py/torn.py"), &[size, &reads.to_string()]);
    assert_eq!(result["wrong"], json!([]), "{result}");
    assert!(result["reads"].as_u64() >= Some(reads) && result["writes"].as_u64() > Some(0), "{result}");
    assert!(mount.rejected().is_empty());
}

#[test]
fn no_torn_read_of_200_bytes() {
    torn("200", scaled(3000, 30_000));
}

#[test]
fn no_torn_read_of_64_kib() {
    torn("65536", scaled(1000, 10_000));
}

#[test]
fn no_torn_read_of_4_mib() {
    torn("4194304", scaled(40, 500));
}

#[test]
fn no_stat_tells_the_size_of_a_draft() {
    let mount = Mount::new();
    let stats = scaled(40_000, 1_000_000);
    let result = mount.python(include_str!("py/stats.py"), &[&stats.to_string()]);
    assert_eq!(result["wrong"], json!({}), "{result}");
    assert!(result["stats"].as_u64() >= Some(stats), "{result}");
}

#[test]
fn of_eight_processes_on_one_thread_one_creates_and_the_others_recover() {
    let mount = Mount::new();
    let threads = scaled(25, 250);
    let result = mount.python(include_str!("py/acquire.py"), &["8", &threads.to_string()]);
    assert_eq!(result, json!({"threads": threads, "created": threads, "recovered": threads * 7, "wrong": []}));
    assert_eq!(mount.counted("threads"), threads);
}

fn counted(mode: &str) -> Value {
    let mount = Mount::new();
    let each = scaled(50, 250);
    let result = mount.python(include_str!("py/counter.py"), &[mode, "8", &each.to_string()]);
    assert_eq!(result, json!({"counted": 8 * each, "errors": []}), "{mode}");
    assert!(mount.rejected().is_empty());
    result
}

#[test]
fn no_lost_update_with_open_w_under_a_lock() {
    counted("w");
}

#[test]
fn no_lost_update_with_open_r_plus_before_the_lock() {
    counted("r+");
}

#[test]
fn no_lost_update_with_os_replace_under_a_lock() {
    counted("replace");
}

#[test]
fn no_lost_update_with_fcntl_locks() {
    counted("lockf");
}
