"""What snapshots, forks and restores cost: each against something measured in the same run.

A part returns rows: (what, a name and the seconds of it, a name and the seconds of what it is compared
with, the bound on the ratio of the two or on the seconds).
"""

import contextlib
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

import caches

MIB = 1 << 20
QUIET = ("snapshots.auto=off",)
DEPTH = 20


class Row:
    def __init__(self, what, name, seconds, against=None, base=None, ratio=None, limit=None, floor=None):
        self.what, self.name, self.seconds, self.against, self.base = what, name, seconds, against, base
        self.ratio, self.limit = ratio, limit
        if floor is not None:
            self.ratio = 1 / floor

    @property
    def times(self):
        return self.seconds / self.base if self.base else None

    @property
    def holds(self):
        in_ratio = self.ratio is None or self.times <= self.ratio
        return in_ratio and (self.limit is None or self.seconds <= self.limit)

    @property
    def bound(self):
        bounds = [f"{self.ratio:.2f} times"] if self.ratio is not None else []
        bounds += [f"{self.limit * 1000:.0f} ms"] if self.limit is not None else []
        return ", ".join(bounds)


def table(rows):
    lines = ["| what | | | time | ratio | at most |", "| --- | --- | --- | --: | --: | --: |"]
    for row in rows:
        against = f"{row.against}: {shown(row.base)}" if row.base else ""
        times = f"{row.times:.2f}" if row.base else ""
        lines.append(f"| {row.what} | {row.name} | {against} | {shown(row.seconds)} | {times} | {row.bound} |")
    return "\n".join(lines)


def verdicts(rows):
    for row in rows:
        measured = f"{row.times:.2f} times" if row.base else ""
        yield row.holds, f"{row.what}, {row.name}: {measured} {shown(row.seconds)}, at most {row.bound or 'anything'}"


def shown(seconds):
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


class Mounted:
    """A store of its own, mounted with some settings."""

    def __init__(self, threadfs, folder, options=QUIET):
        self.threadfs, self.folder, self.options = threadfs, Path(folder), options
        self.home, self.store = self.folder / "home", self.folder / "store"
        os.makedirs(self.home)
        self.mount()

    def run(self, *command):
        done = subprocess.run(
            [self.threadfs, *command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise RuntimeError(f"threadfs {command}: {done.stdout.strip()}")

    def mount(self):
        options = [part for option in self.options for part in ("-o", option)]
        self.run("mount", *options, "--log-file", str(self.folder / "log"), str(self.store), str(self.home))

    def unmount(self):
        if os.path.ismount(self.home):
            self.run("umount", str(self.home))

    def again(self):
        self.unmount()
        self.mount()

    def thread(self, name):
        path = self.home / "threads" / name
        os.makedirs(path, exist_ok=True)
        return path

    def on(self, *command):
        """A command whose first argument is a thread's id; returns the seconds that it took."""
        name, *rest = command
        return timed(lambda: self.run(name, *(str(part) for part in rest)))


@contextlib.contextmanager
def mounted(tools, work, name, options=QUIET):
    it = Mounted(tools.threadfs, Path(work) / name, (*options, *tools.options))
    try:
        yield it
    finally:
        it.unmount()


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(calls, rounds):
    """Calls each by turns; the least time of each."""
    least = [float("inf")] * len(calls)
    for number in range(rounds):
        for index in range(len(calls)) if number % 2 == 0 else reversed(range(len(calls))):
            least[index] = min(least[index], calls[index](number))
    return least


def fill(top, files, per_folder=1000):
    for start in range(0, files, per_folder):
        folder = top / f"d{start // per_folder:03}"
        os.makedirs(folder)
        for number in range(start, min(files, start + per_folder)):
            put(folder / f"f{number:06}", b"x" * 200)


def put(path, content):
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(file, content)
    os.close(file)


def large(path, mib):
    """A file all of whose chunks exist, and differ; on the disk they take little."""
    with open(path, "wb", buffering=0) as file:
        for number in range(mib):
            file.write((number.to_bytes(8, "big") + b"threadfs") * (MIB // 16))
        os.fsync(file.fileno())


def taking(tools, work):
    """Snapshots and forks of a small thread and of a large one."""
    rows = []
    with mounted(tools, work, "taking") as it:
        small, big = it.thread("small"), it.thread("big")
        fill(small, 10)
        fill(big, tools.files)
        large(big / "large", tools.gib * 1024)
        snapshot = lambda thread: lambda n: timed(lambda: os.mkdir(thread / ".snapshots" / f"s{n}"))
        a, b = best([snapshot(small), snapshot(big)], 20)
        rows.append(Row("snapshot (mkdir)", f"{tools.files:,} files, {tools.gib} GiB", b, "10 files", a, ratio=1.5))
        fork = lambda thread: lambda n: it.on("fork", thread, it.home / "threads" / f"{thread.name}-{n}")
        a, b = best([fork(small), fork(big)], 10)
        rows.append(Row("threadfs fork", f"{tools.files:,} files, {tools.gib} GiB", b, "10 files", a, ratio=1.5))
        rows += restoring_files(it, big, tools.files)
        rows += losing(big, tools.gib)
    return rows


def losing(thread, gib):
    """The end of a large file that a snapshot keeps."""
    path = thread / "large"
    # The kernel drops the cached pages of such a file, on any filesystem: that is not what is asked here.
    caches.forget(path)
    truncate = timed(lambda: os.close(os.open(path, os.O_WRONLY | os.O_TRUNC)))
    large(path, 1024)
    os.mkdir(thread / ".snapshots" / "before-unlink")
    caches.forget(path)
    unlink = timed(lambda: os.unlink(path))
    return [
        Row("open with O_TRUNC, snapshots kept", f"{gib} GiB", truncate, limit=0.01),
        Row("unlink, snapshots kept", "1 GiB", unlink, limit=0.01),
    ]


def restoring_files(it, thread, files):
    """Ten of many files changed, and back."""
    rng = random.Random(1)
    os.mkdir(thread / ".snapshots" / "base")
    version = it.home / "threads" / "nothing"
    nothing = it.thread("nothing")
    put(nothing / "file", b"x")
    os.mkdir(nothing / ".snapshots" / "base")

    def change():
        for number in rng.sample(range(files), 10):
            put(thread / f"d{number // 1000:03}" / f"f{number:06}", b"changed")

    def restore(_):
        change()
        return it.on("restore", thread, "base")

    def diff(_):
        change()
        return it.on("diff", thread, "base")

    def restore_little(_):
        put(nothing / "file", b"changed")
        return it.on("restore", nothing, "base")

    whole, least, compared = best([restore, restore_little, diff], 5)
    assert version.exists()
    return [
        Row("threadfs restore", f"10 of {files:,} files", whole, "1 of 1 file", least, limit=0.1),
        Row("threadfs diff", f"10 of {files:,} files", compared, limit=0.1),
    ]


def small_changes(tools, work):
    """One chunk of a large file, one name of a large directory: against the same in small ones."""
    rows = []
    with mounted(tools, work, "changes") as it:
        few, many = it.thread("few"), it.thread("many")
        short, long = it.thread("short"), it.thread("long")
        for thread, names in ((few, 10), (many, tools.names)):
            os.mkdir(thread / "d")
            for number in range(names):
                os.mknod(thread / "d" / f"a-name-{number}")
        for thread, mib in ((short, 1), (long, 1024)):
            large(thread / "file", mib)
        threads = (few, many, short, long)
        for thread in threads:
            os.mkdir(thread / ".snapshots" / "base")

        def name(thread, _):
            os.rename(thread / "d" / "a-name-5", thread / "d" / "another")

        def chunk(thread, _):
            file = os.open(thread / "file", os.O_WRONLY)
            os.pwrite(file, os.urandom(100), 500_000)
            os.close(file)

        def measure(change, command):
            def of(thread):
                def once(n):
                    change(thread, n)
                    spent = it.on(command, thread, "base")
                    if command != "restore":
                        it.on("restore", thread, "base")
                    return spent
                return once
            return of

        for command in ("restore", "diff"):
            a, b = best([measure(name, command)(few), measure(name, command)(many)], 5)
            rows.append(Row(f"threadfs {command}, one name", f"of {tools.names:,}", b, "of 10", a, ratio=1.5))
            a, b = best([measure(chunk, command)(short), measure(chunk, command)(long)], 5)
            rows.append(Row(f"threadfs {command}, one chunk", "of 1 GiB", b, "of 1 MiB", a, ratio=1.5))
    return rows


def deep(tools, work):
    """A thread, and a fork twenty deep."""
    files, mib, rng = 3000, 64, random.Random(2)
    with mounted(tools, work, "deep") as it:
        plain = it.thread("fork00")
        fill(plain, files, 500)
        large(plain / "whole", mib)
        large(plain / "patched", mib)
        for level in range(1, DEPTH + 1):
            thread = it.home / "threads" / f"fork{level:02}"
            it.run("fork", str(thread.with_name(f"fork{level - 1:02}")), str(thread))
            for number in rng.sample(range(files), 30):
                put(thread / f"d{number // 500:03}" / f"f{number:06}", b"y" * 200)
            with open(thread / "patched", "r+b", buffering=0) as file:
                for _ in range(10):
                    file.seek(rng.randrange(mib * MIB // 4096) * 4096)
                    file.write(os.urandom(4096))
        times = {}
        for number in range(tools.rounds):
            pair = [("plain", plain), ("deep", thread)]
            for which, top in pair if number % 2 == 0 else reversed(pair):
                it.again()
                for what, seconds in reading(it, top, files, mib):
                    times.setdefault(what, {}).setdefault(which, []).append(seconds)
    rows = []
    for what, of in times.items():
        a, b = (statistics.median(of[which]) for which in ("plain", "deep"))
        rows.append(Row(what, f"{DEPTH} forks deep", b, "plain", a, floor=0.8))
    return rows


def reading(it, top, files, mib):
    names = [top / f"d{number // 500:03}" / f"f{number:06}" for number in range(files)]
    folders = sorted({name.parent for name in names})
    yield "list, cold", timed(lambda: [os.listdir(folder) for folder in folders])
    yield "stat, cold", timed(lambda: [os.stat(name) for name in names])
    yield "list and stat, warm", timed(lambda: [[e.stat() for e in os.scandir(folder)] for folder in folders])
    yield "open, read, close, cold", timed(lambda: [slurp(name) for name in names])
    yield "open, read, close, warm", timed(lambda: [slurp(name) for name in names])
    it.again()
    yield "open, read, close, fresh mount", timed(lambda: [slurp(name) for name in names])
    yield "a name that is not there", timed(lambda: [os.path.exists(f"{name}-no") for name in names])
    for what in ("whole", "patched"):
        path = top / what
        yield f"sequential read, {what} file", timed(lambda: stream(path))
        caches.forget(path)
        yield f"sequential read again, {what} file", timed(lambda: stream(path))
        caches.forget(path)
        yield f"random 4 KiB read, {what} file", timed(lambda: random_reads(path, mib))


def slurp(path):
    file = os.open(path, os.O_RDONLY)
    os.read(file, 4096)
    os.close(file)


def stream(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(MIB):
            pass


def random_reads(path, mib, count=1500):
    rng, file = random.Random(3), os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    for _ in range(count):
        os.pread(file, 4096, rng.randrange(mib * MIB // 4096) * 4096)
    os.close(file)


def beside(tools, work):
    """The same work with a snapshot kept and without."""
    rows = []
    with (
        mounted(tools, work, "kept", ()) as on,
        mounted(tools, work, "unkept") as off,
    ):
        for it in (on, off):
            for number in range(100):
                put(it.thread(f"t{number}") / "a.json", b"{}")

        def saves(it):
            def once(_):
                return timed(lambda: [(it.home / f"threads/t{n % 100}/a.json").write_text(f'{{"n": {n}}}') for n in range(2000)])
            return once

        a, b = best([saves(off), saves(on)], 7)
        rows.append(Row("save", "snapshots.auto=on", b, "off", a, floor=0.9))

        def trees(kept):
            def once(n):
                thread = off.thread(f"tree-{kept}-{n}")
                if kept:
                    fill(thread, 10)
                    os.mkdir(thread / ".snapshots" / "s")
                return timed(lambda: fill(thread / "new", 3000))
            return once

        a, b = best([trees(False), trees(True)], 5)
        rows.append(Row("tree of small files", "a snapshot kept", b, "none", a, floor=0.9))

        gib = {}
        for kept in (False, True):
            gib[kept] = off.thread(f"gib-{kept}") / "file"
            large(gib[kept], 1024)
        os.mkdir(gib[True].parent / ".snapshots" / "s")

        def writes(path, first):
            def once(n):
                rng, file = random.Random(0 if not first else n + 1), os.open(path, os.O_WRONLY)
                block = os.urandom(4096)
                spent = timed(lambda: [os.pwrite(file, block, rng.randrange(1024 * 256) * 4096) for _ in range(3000)])
                os.close(file)
                return spent
            return once

        a, b = best([writes(gib[False], True), writes(gib[True], True)], 7)
        rows.append(Row("random 4 KiB write, first since", "a snapshot kept", b, "none", a, ratio=2))
        a, b = best([writes(gib[False], False), writes(gib[True], False)], 7)
        rows.append(Row("random 4 KiB write, again", "a snapshot kept", b, "none", a, floor=0.9))
    return rows


PARTS = {"taking": taking, "changes": small_changes, "deep": deep, "beside": beside}


def measure(tools, work):
    return [row for name in tools.parts or PARTS for row in PARTS[name](tools, work)]
