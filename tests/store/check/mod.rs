//! The consistency checker.

mod damage;
mod healthy;

use threadfs::store::Store;
use threadfs::store::check::check_with;

/// Fails with what is wrong.
pub fn assert_clean(store: &Store, when: &str) {
    let report = check_with(store, true).unwrap();
    assert!(report.is_clean(), "{when}:\n{}", report.problems.join("\n"));
}
