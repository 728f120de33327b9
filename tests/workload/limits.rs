//! Many, large, long and deep: as on the local disk, up to its limits and those of the kernel.

use crate::places::{Places, same_as_on_the_disk};
use crate::support::scaled;

/// The same steps, which get a count, in both places.
#[track_caller]
fn same_with(count: u64, steps: &str) -> String {
    same_as_on_the_disk(&format!("count={count}\n{steps}"))
}

#[test]
fn many_files_in_one_directory() {
    let told = same_with(scaled(4_000, 1_000_000), r#"python3 "$steps/many.py" "$count"; ls -A"#);
    assert_eq!(told, "all are listed: True True\ntold once: True left: True\nmoved: True\n");
}

#[test]
fn many_links_of_one_file() {
    let steps = r#"
        python3 - "$count" <<'EOF'
import errno, os, sys
count = int(sys.argv[1])
os.mkdir("links")
with open("file", "w") as file:
    file.write("text")
try:
    for number in range(1, count + 1):
        os.link("file", f"links/{number}")
except OSError as error:
    print(errno.errorcode[error.errno], number)
print(os.stat("links/1").st_nlink, len(os.listdir("links")))
os.unlink("file")
print(open("links/2").read(), os.stat("links/1").st_nlink)
for name in os.listdir("links")[1:]:
    os.unlink(f"links/{name}")
[last] = os.scandir("links")
print(last.stat().st_nlink, open(last).read())
EOF"#;
    let count = scaled(3_000, 65_000);
    let told = same_with(count, steps);
    assert_eq!(told.starts_with("EMLINK 65000\n"), count == 65_000, "{told}");
}

#[test]
fn many_open_files() {
    let steps = r#"
        python3 - "$count" <<'EOF'
import multiprocessing, os, resource, sys
count = int(sys.argv[1])
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
each = min(count, most - 100)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
numbers = [range(start, min(start + each, count)) for start in range(0, count, each)]
fork = multiprocessing.get_context("fork")
together = fork.Barrier(len(numbers))

def hold(numbers):
    fds = {number: os.open(f"file {number}", os.O_CREAT | os.O_RDWR) for number in numbers}
    for number, fd in fds.items():
        os.write(fd, b"%d" % number)
    # Half of them have no name any more, and some have another.
    for number in numbers:
        if number % 2 == 0:
            os.unlink(f"file {number}")
        if number % 4 == 1:
            os.rename(f"file {number}", f"moved {number}")
    if together.wait() == 0:
        print(len(os.listdir()), flush=True)
    together.wait()
    for number, fd in fds.items():
        assert os.pread(fd, 10, 0) == b"%d" % number and os.fstat(fd).st_nlink == number % 2, number
    together.wait()
    for fd in fds.values():
        os.close(fd)

holders = [fork.Process(target=hold, args=(part,)) for part in numbers]
for holder in holders:
    holder.start()
for holder in holders:
    holder.join()
print({holder.exitcode for holder in holders})
for name in os.listdir():
    os.unlink(name)
print(os.listdir())
EOF"#;
    let count = scaled(4_000, 100_000);
    let places = Places::new();
    let told = places.same(&format!("count={count}\n{steps}"));
    assert_eq!(told, format!("{}\n{{0}}\n[]\n", count / 2));
    // Those without a name are gone with their last descriptor, which nobody waits for.
    crate::support::wait_for("what was unlinked to be gone", || places.mount.counted("inodes") < 10);
}

#[test]
fn paths_of_4095_bytes_and_trees_that_are_deeper() {
    let steps = r#"
        python3 - "$count" <<'EOF'
import errno, os, sys
depth = int(sys.argv[1])
def tried(call, *arguments):
    try:
        call(*arguments)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
# 15 directories of 255 bytes and their slashes are 3840.
long = "/".join("n" * 255 for _ in range(15)) + "/"
os.makedirs(long)
for length in (254, 255, 256):
    path = long + "f" * length
    print(len(path), tried(create, path), tried(os.mkdir, path), tried(os.stat, path))
longest, other = long + "f" * 255, long + "g" * 255
print(len(longest), tried(os.rename, longest, other), tried(os.link, other, longest), os.stat(other).st_nlink)
print(tried(os.symlink, longest, "link"), tried(os.stat, "link"), len(os.readlink("link")))
print(tried(os.symlink, longest + "f", "no link"))
# Deeper than any path can be long.
home = os.stat(".")
for level in range(depth):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
create("at the bottom")
print(tried(os.getcwd), os.listdir())
for level in range(depth):
    os.chdir("..")
print(os.path.samestat(os.stat("."), home))
EOF
        find . -name 'at the bottom' | wc -c
        find . -type d | wc -l
        du -a d* | wc -l
        rm -rf d* n* link
        ls -A"#;
    same_with(scaled(400, 5_000), steps);
}

#[test]
fn names_that_look_alike_are_not_the_same() {
    let steps = r#"
        python3 - <<'EOF'
import os, unicodedata
words = ["a", "A", "\u00e9", "\u00c9", "\u00df", "\u1e9e", "ss", "SS", "i", "I", "\u0131", "\u0130", "\u212b", "\u00c5", "\ufb01",
         "fi", "x", "x\u200b", "x ", "x.", " x", "con", "CON", "\u202ex", "\U0001f9ea", "\u304c", "a\u0323\u0307", "a\u0307\u0323"]
forms = ("NFC", "NFD", "NFKC", "NFKD")
names = {unicodedata.normalize(form, word).encode() for word in words for form in forms} | {word.encode() for word in words}
# And what is no text at all.
names |= {bytes([byte]) + b"?" for byte in range(128, 256)}
names |= {b"\xc3", b"\xa9", b"\xc3\xa9\xa9", b"\xed\xa0\x80", b"\xc0\xaf", b"\xff" * 255}
for name in names:
    with open(name, "xb") as file:
        file.write(name)
print(len(names), set(os.listdir(b".")) == names, all(open(name, "rb").read() == name for name in names))
# Another form of a name is another name, for every call.
os.rename("\u00e9", "new")
print(os.path.exists("\u00e9"), os.path.exists("e\u0301"))
os.rename("a", "b")
print(os.path.exists("a"), os.path.exists("A"))
os.rename("e\u0301", "\u00e9")
print(open("\u00e9", "rb").read())
os.mkdir("caf\u00e9")
os.mkdir("cafe\u0301")
open("caf\u00e9/x", "w").close()
print(os.listdir("cafe\u0301"))
EOF
        ls | sort | sha256sum"#;
    same_as_on_the_disk(steps);
}

#[test]
fn a_sparse_file_of_a_tebibyte_is_copied_by_its_data() {
    let steps = r#"
        truncate -s 1T file
        for place in 0 1 1000 500000 1048575; do
          printf 'at %s,' "$place" | dd of=file bs=1M seek="$place" conv=notrunc status=none
        done
        cp --sparse=always file copy
        cp file plain
        for name in file copy plain; do
          stat -c %s $name
          [ "$(du -k $name | cut -f 1)" -lt 200 ] || du -k $name
          for place in 0 1 1000 500000 1048575; do
            dd if=$name bs=1M skip="$place" count=1 status=none | tr -d '\0'
          done
          echo
        done
        fallocate --punch-hole --offset 500000MiB --length 1MiB file
        dd if=file bs=1M skip=499999 count=3 status=none | tr -d '\0' | wc -c
        tar --sparse -cf archive.tar file
        [ "$(stat -c %s archive.tar)" -lt 100000 ] || stat archive.tar
        rm file
        tar -xf archive.tar
        stat -c %s file
        truncate -s 10 file
        truncate -s 1T file
        head -c 20 file | tr '\0' .
        rm file copy plain"#;
    let told = same_as_on_the_disk(steps);
    assert!(told.ends_with("at 0,..............."), "{told}");
}

#[test]
fn a_large_dense_file() {
    let steps = r#"
        python3 - "$count" <<'EOF'
import os, sys, time
mib = int(sys.argv[1])
noise = os.urandom((1 << 20) - 8)
def block(number):
    return noise + number.to_bytes(8, "big")
start = time.monotonic()
with open("large", "wb") as file:
    for number in range(mib):
        file.write(block(number))
    os.fsync(file.fileno())
written = time.monotonic()
fd = os.open("large", os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
print(os.fstat(fd).st_size == mib << 20, os.fstat(fd).st_blocks * 512 >= mib << 20)
print(all(os.read(fd, 1 << 20) == block(number) for number in range(mib)), os.read(fd, 1))
read = time.monotonic()
print(f"{mib / (written - start):.0f} MiB/s written, {mib / (read - written):.0f} MiB/s read", file=sys.stderr)
EOF
        truncate -s 100M large
        tail -c 8 large | od -An -tx1
        rm large"#;
    same_with(scaled(200, 20 * 1024), steps);
}
