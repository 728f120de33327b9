//! Several processes after the same name, and several ways to the same bytes.

use crate::places::same_as_on_the_disk;
use crate::support::scaled;

#[test]
fn exclusive_creation_has_one_winner() {
    let steps = r#"
        python3 - <<'EOF'
import os
won = [os.pipe() for _ in range(8)]
start_read, start_write = os.pipe()
for read, write in won:
    if os.fork() == 0:
        os.close(start_write)
        os.read(start_read, 1)
        mine = 0
        for number in range(100):
            try:
                fd = os.open(f"name{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                os.write(fd, b"x")
                os.close(fd)
                mine += 1
            except FileExistsError:
                pass
        os.write(write, b"%d" % mine)
        os._exit(0)
    os.close(write)
os.close(start_write)
print(sum(int(os.read(read, 100)) for read, _ in won), {os.stat(name).st_size for name in os.listdir()})
EOF"#;
    assert_eq!(same_as_on_the_disk(steps), "100 {1}\n");
}

#[test]
fn a_name_goes_round_and_each_has_what_it_opened() {
    // A file is replaced while others open it: never absent, never half.
    let steps = r#"
        echo 0 >current
        for writer in 1 2; do
          (for n in $(seq 150); do printf '%s\n' "$n" >"new$writer" && mv "new$writer" current; done) &
        done
        (for n in $(seq 300); do read -r n <current && [ -n "$n" ] || echo "absent or empty"; done) &
        wait
        cat current
        ls"#;
    assert_eq!(same_as_on_the_disk(steps), "150\ncurrent\n");
}

#[test]
fn a_tree_is_removed_while_others_write_to_it() {
    let steps = format!(r#"python3 "$steps/removal.py" {}; ls -A"#, scaled(5, 120));
    assert_eq!(same_as_on_the_disk(&steps), "{0}\n");
}

#[test]
fn direct_buffered_and_mapped_accesses_see_each_other() {
    let steps = format!(r#"for seed in 1 2 3; do python3 "$steps/coherent.py" {} $seed; done"#, scaled(4_000, 200_000));
    same_as_on_the_disk(&steps);
}
