//! Documents: a close that returned is a commit that stays.

use std::collections::BTreeMap;

use crate::load::{Load, rounds};
use crate::support::scaled;

const WRITERS: u64 = 3;

#[test]
fn every_acknowledged_commit_is_there_and_every_document_parses() {
    let script = include_str!("py/documents.py");
    let mut total = 0;
    rounds(
        1,
        |mount, round| {
            (0..WRITERS).map(|n| Load::start(mount, script, &[&n.to_string(), &round.to_string()])).collect()
        },
        |mount, round, acknowledged| {
            for (writer, lines) in acknowledged.iter().enumerate() {
                let mut newest = BTreeMap::new();
                for line in lines {
                    newest.insert(line["path"].as_str().unwrap().to_owned(), line["n"].as_u64().unwrap());
                }
                total += lines.len();
                for (path, n) in newest {
                    let text = mount.read(&path);
                    let value: serde_json::Value =
                        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
                    let found = value["n"].as_u64().unwrap();
                    // One more may have been committed without its writer having heard of it.
                    assert!(
                        value["round"] == round && found >= n,
                        "writer {writer}, {path}: {value}, acknowledged {n}"
                    );
                    assert_eq!(value["first"], value["last"], "{path}");
                }
            }
            let broken = mount.python(include_str!("py/parse_all.py"), &[]);
            assert_eq!(broken["broken"], serde_json::json!([]), "{broken}");
        },
    );
    assert!(total as u64 > scaled(4, 20) * WRITERS, "only {total} commits");
}
