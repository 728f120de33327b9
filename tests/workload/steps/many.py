"""COUNT: files in one directory, made, listed, looked at and removed; tells on stderr how long each takes."""
import os, sys, time

count = int(sys.argv[1])
block = min(10_000, count // 2)
blocks = [range(start, min(start + block, count)) for start in range(0, count, block)]


def each(what, call):
    times = []
    for numbers in blocks:
        start = time.monotonic()
        for number in numbers:
            call(f"file {number}")
        times.append((time.monotonic() - start) / len(numbers) * 1e6)
    first, last, middle = times[0], times[-1], sorted(times)[len(times) // 2]
    print(f"{what}: first {first:.1f}, last {last:.1f}, median {middle:.1f} µs", file=sys.stderr)


def create(name):
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))


def listed():
    start = time.monotonic()
    with os.scandir() as entries:
        numbers = {int(entry.name.split()[1]) for entry in entries}
    print(f"list: {(time.monotonic() - start) / count * 1e6:.2f} µs", file=sys.stderr)
    return numbers == set(range(count))


os.mkdir("many")
os.chdir("many")
each("create", create)
print("all are listed:", listed(), listed())
each("stat", os.stat)
each("what is not there", lambda name: os.path.exists(name + " not"))
# While it is read, the directory shrinks: each name is told, and none twice.
with os.scandir() as entries:
    seen = []
    for number, entry in enumerate(entries):
        seen.append(entry.name)
        if number % 2:
            os.unlink(entry.name)
print("told once:", len(seen) == len(set(seen)) == count, "left:", len(os.listdir()) == count - count // 2)
for name in os.listdir():
    os.rename(name, name + " moved")
print("moved:", all(name.endswith(" moved") for name in os.listdir()))
left = os.listdir()
start = time.monotonic()
for name in left:
    os.unlink(name)
print(f"unlink: {(time.monotonic() - start) / len(left) * 1e6:.1f} µs", file=sys.stderr)
os.chdir("..")
os.rmdir("many")
