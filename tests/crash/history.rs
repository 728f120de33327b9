//! The past: a snapshot, a restore, a fork, a return happened wholly or not at all.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::load::{Load, rounds};

#[test]
fn what_was_under_way_happened_wholly_or_not_at_all() {
    let script = include_str!("py/history.py");
    rounds(
        3,
        |mount, round| (0..2).map(|n| Load::start(mount, script, &[&n.to_string(), &round.to_string()])).collect(),
        |mount, _, acknowledged| {
            let found = mount.python(include_str!("py/states.py"), &[]);
            assert_eq!(found["wrong"], serde_json::json!([]), "{found}");
            for lines in &acknowledged {
                let mut facts = BTreeMap::new();
                for line in lines {
                    for (name, fact) in line.as_object().unwrap() {
                        facts.insert(name.clone(), fact.clone());
                    }
                }
                for (name, fact) in facts {
                    match (name.strip_prefix('='), fact) {
                        (_, Value::Null) => {}
                        (Some(thread), state) => assert_eq!(found["states"][thread], state, "{thread}"),
                        (None, there) => {
                            let path = mount.at("threads").join(&name);
                            assert_eq!(path.symlink_metadata().is_ok(), there.as_bool().unwrap(), "{name}");
                        }
                    }
                }
            }
        },
    );
}
