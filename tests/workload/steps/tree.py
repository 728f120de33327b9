"""FOLDER: makes a tree with one of everything that archives have to keep."""
import os, sys

os.umask(0o022)
root = os.fsencode(sys.argv[1])
os.mkdir(root)
os.chdir(root)
SECOND = 10**9
old, late = -2 * SECOND, 4_102_444_800 * SECOND + 7  # before 1970, and 2100


def write(name, content, mode=0o644):
    with open(name, "wb") as file:
        file.write(content)
    os.chmod(name, mode)


for number in range(40):
    os.makedirs(b"deep/%d/er" % (number % 7), exist_ok=True)
    write(b"deep/%d/er/%d.txt" % (number % 7, number), b"%d\n" % number * (number * 100))
write("large", os.urandom(1 << 20) * 3 + b"end")
write("empty", b"")
write(b"not utf-8 \xff\xfe \n newline", b"name")
write("\N{LATIN SMALL LETTER E WITH ACUTE} composed", b"one")
write("e\N{COMBINING ACUTE ACCENT} composed", b"other")
write("n" * 255, b"a long name")
for mode in (0o000, 0o444, 0o600, 0o755, 0o4755, 0o2711, 0o1777):
    write(f"mode {mode:o}", b"mode", mode)
    os.mkdir(f"folder {mode:o}")
    os.chmod(f"folder {mode:o}", mode)

with open("sparse", "wb") as file:
    file.seek(5 << 20)
    file.write(b"in the middle")
    file.truncate(32 << 20)
os.mkdir("links")
for name in ("links/second", "third"):
    os.link("deep/1/er/1.txt", name)
for name, target in (("to file", "deep/1/er/1.txt"), ("to folder", "deep"), ("nowhere", b"\xff/nowhere" * 100)):
    os.symlink(target, f"links/{name}")
os.mkfifo("pipe", 0o620)
os.mknod("device", 0o20660, os.makedev(1, 3))

write("attributes", b"attributes")
os.setxattr("attributes", "user.text", b"value")
os.setxattr("attributes", "user.binary", bytes(range(256)))
os.setxattr("attributes", "user.empty", b"")
os.setxattr("attributes", "trusted.ours", b"root only")
os.setxattr("deep", "user.of a folder", b"x" * 1000)

for name in ("large", "pipe", "device", "deep/2"):
    os.chown(name, 1234, 5678)
os.chown("links/nowhere", 4321, 8765, follow_symlinks=False)
# Folders last: what is made in them moves their times.
for path, _, names in os.walk(b".", topdown=False):
    for number, name in enumerate(sorted(names) + [b"."]):
        time = (1_000_000_000 + number) * SECOND + 123_456_789
        os.utime(os.path.join(path, name), ns=(time, time), follow_symlinks=False)
os.utime("large", ns=(late, late))
os.utime("empty", ns=(old, old))
os.utime("links/nowhere", ns=(late + 1, late + 2), follow_symlinks=False)
