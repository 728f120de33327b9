//! Programs that wait for changes of files.

use crate::places::same_as_on_the_disk;

#[test]
fn inotify_tells_the_changes_that_processes_make() {
    let steps = r#"
        mkdir folder
        echo first >folder/changed
        echo gone >folder/removed
        python3 "$steps/watch.py" folder bash -euc '
          echo new >folder/made
          echo more >>folder/changed
          mv folder/made folder/moved
          chmod 600 folder/moved
          mkdir folder/inner
          rmdir folder/inner
          ln folder/moved folder/linked
          truncate -s 3 folder/changed
          rm folder/removed'"#;
    let told = same_as_on_the_disk(steps);
    for event in ["CREATE made", "MODIFY changed", "CLOSE_WRITE made", "MOVED_TO moved", "DELETE removed"] {
        assert!(told.lines().any(|line| line == event), "no {event}:\n{told}");
    }
}

#[test]
fn inotify_tells_the_saves_of_a_document() {
    let steps = r#"
        cd ../..
        echo '{"n": 0}' >sandbox.json
        python3 "$steps/watch.py" . python3 -c '
import json
for n in range(3):
    with open("sandbox.json", "w") as file:
        json.dump({"n": n}, file)'"#;
    let told = same_as_on_the_disk(steps);
    assert_eq!(told.matches("CLOSE_WRITE sandbox.json").count(), 3, "{told}");
}
