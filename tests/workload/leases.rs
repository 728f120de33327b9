//! Leases of files, which the kernel keeps.

use crate::places::same_as_on_the_disk;

#[test]
fn leases_are_taken_and_broken() {
    let shown = same_as_on_the_disk(
        r#"
        echo text >plain; echo '{}' >../../document.json; : >../../sandbox.lock
        python3 "$steps/lease.py" plain ../../document.json ../../sandbox.lock"#,
    );
    assert_eq!(shown.matches("without waiting: EAGAIN").count(), 6, "{shown}");
    assert_eq!(shown.matches("told: True").count(), 6, "{shown}");
}
