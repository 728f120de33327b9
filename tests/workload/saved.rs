//! What programs rely on after they have saved.

use crate::places::same_as_on_the_disk;
use crate::support::Mount;

#[test]
fn every_kind_of_descriptor_can_be_synced() {
    let steps = r#"
        python3 - <<'EOF'
import os
with open("file", "wb") as file:
    file.write(b"content")
unlinked = open("unlinked", "w+b")
unlinked.write(b"content")
unlinked.flush()
os.unlink("unlinked")
kinds = {
    "read only": os.open("file", os.O_RDONLY), "write only": os.open("file", os.O_WRONLY | os.O_APPEND),
    "folder": os.open(".", os.O_RDONLY | os.O_DIRECTORY), "unlinked": unlinked.fileno(),
}
for name, fd in kinds.items():
    os.fsync(fd)
    os.fdatasync(fd)
    print(name, os.fstat(fd).st_size if name != "folder" else "")
EOF"#;
    same_as_on_the_disk(steps);
}

#[test]
fn size_and_time_stay_as_they_were_at_close() {
    // Editors compare them to find out whether somebody else has changed the file.
    let steps = r#"
        python3 - <<'EOF'
import mmap, os, subprocess, time

def seen(path):
    status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"

def write(path):
    with open(path, "wb") as file:
        file.write(b"x" * 300_000)

def store(path):
    write(path)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[:5] = b"store"
        mapping.flush()

for change in write, store:
    change("file")
    after = seen("file")
    until = time.monotonic() + 1.3
    while time.monotonic() < until:
        with open("file", "rb") as file:
            file.read()
            os.fsync(file.fileno())
        if seen("file") != after:
            print(change.__name__, "moved")
            break
        time.sleep(0.01)
    other = subprocess.run(["stat", "-c", "%s %y", "file"], capture_output=True, text=True).stdout
    print(change.__name__, other.split()[0])
EOF"#;
    assert_eq!(same_as_on_the_disk(steps), "write 300000\nstore 300000\n");
}

#[test]
fn times_of_any_age_are_kept_to_the_nanosecond() {
    let steps = r#"
        python3 - <<'EOF'
import os
open("file", "w").close()
second = 10**9
for time in (0, 1, -1, -second, -second // 2, -3 * second // 2, (2 - 2**31) * second + 1, 2**31 * second - 1, 2**33 * second + 5):
    os.utime("file", ns=(time, time + 1))
    status = os.stat("file")
    print(time, status.st_atime_ns - time, status.st_mtime_ns - time)
EOF"#;
    let told = same_as_on_the_disk(steps);
    assert!(told.lines().all(|line| line.ends_with(" 0 1")), "{told}");
}

#[test]
fn a_program_is_not_changed_while_it_runs() {
    // The kernel refuses to write to a program that runs; it can be replaced.
    let steps = r#"
        cp "$(command -v sleep)" program
        size=$(stat -c %s program)
        ./program 30 &
        until [ "$(readlink "/proc/$!/exe")" -ef program ]; do sleep 0.01; done
        for how in O_WRONLY O_RDWR 'O_WRONLY | os.O_TRUNC' 'O_RDONLY | os.O_TRUNC'; do
          python3 -c "import os; os.open('program', os.$how)" 2>&1 | tail -n 1 || true
        done
        truncate -s 0 program 2>/dev/null || echo not truncated
        [ "$(stat -c %s program)" = "$size" ] || echo "another size"
        cp "$(command -v sleep)" new
        mv new program
        ./program 0
        kill %1
        wait || true"#;
    let told = same_as_on_the_disk(steps);
    assert_eq!(told, "OSError: [Errno 26] Text file busy: 'program'\n".repeat(4) + "not truncated\n");
}

#[test]
fn saving_again_and_again_takes_no_more_space() {
    let mount = Mount::new();
    let size = || {
        let files = std::fs::read_dir(&mount.store).unwrap();
        files.map(|entry| entry.unwrap().metadata().map_or(0, |metadata| metadata.len())).sum::<u64>()
    };
    let workspace = mount.make("threads/t/user-data/workspace");
    let content: Vec<u8> = (0..1_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for n in 0..200 {
        std::fs::write(workspace.join("state"), &content[n..]).unwrap();
    }
    // 800 MB were written, and 4 are there.
    let most = 300 << 20;
    crate::support::wait_for("space to come back", || size() < most);
    assert_eq!(std::fs::read(workspace.join("state")).unwrap(), &content[199..]);
}
