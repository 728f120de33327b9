//! Names: what was made, renamed and removed stays so.

use std::collections::BTreeMap;

use crate::load::{Load, rounds};

#[test]
fn every_acknowledged_change_of_a_name_is_there() {
    let script = include_str!("py/namespace.py");
    rounds(
        2,
        |mount, round| (0..2).map(|n| Load::start(mount, script, &[&n.to_string(), &round.to_string()])).collect(),
        |mount, _, acknowledged| {
            for lines in &acknowledged {
                // Whether each name is there; null where a change was under way.
                let mut names = BTreeMap::new();
                for line in lines {
                    for (name, there) in line.as_object().unwrap() {
                        names.insert(name.clone(), there.as_bool());
                    }
                }
                for (name, there) in names.into_iter().filter_map(|(name, there)| Some((name, there?))) {
                    assert_eq!(mount.at(&name).symlink_metadata().is_ok(), there, "{name}");
                }
            }
            // Nothing keeps the tree from being walked and removed.
            let walked = mount.python(include_str!("py/walk.py"), &[]);
            assert_eq!(walked["wrong"], serde_json::json!([]), "{walked}");
        },
    );
}
