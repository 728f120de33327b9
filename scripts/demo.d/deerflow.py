#!/usr/bin/env python3
"""Unmodified Python at work on a directory, and on a plain one for contrast.

usage: deerflow.py MOUNT PLAIN
"""

import os
import sys
import time

from killed import kill_writers
from sharing import count_under_lock, who_creates
from store import Store
from torn import read_while_written

THREADS = 200


def main():
    mount, plain = sys.argv[1:]
    failures = []

    print("Records: makedirs, write_text, read_text, unlink")
    keep_records(mount)

    print("\nOne sandbox for each thread: 8 processes ask for the same one at once")
    created, recovered = who_creates(mount)
    print(f"  {created} process created it, {recovered} found it")
    check(failures, created == 1, "exactly one process must create the sandbox")

    print("\nThe lock: 8 processes add one to a counter, 100 times each, under fcntl.flock")
    expected, found = count_under_lock(mount)
    print(f"  {found} of {expected} additions are there")
    check(failures, found == expected, "an update was lost")

    print("\nReaders without a lock, while 2 writers call write_text on the same record")
    seen = contrast(read_while_written, plain, mount, reads)
    check(failures, not seen["empty"] + seen["broken"], "a reader saw a torn record")

    print("\n20 writers killed (SIGKILL) in the middle of a write")
    _, lost = contrast(kill_writers, plain, mount, lambda r: f"{r[1]} records lost, {r[0]} whole")
    check(failures, lost == 0, "a killed writer destroyed a record")

    for failure in failures:
        print(f"\nFAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


def keep_records(home):
    store = Store(home)
    names = [f"thread_{number:03}" for number in range(1, THREADS + 1)]
    start = time.perf_counter()
    for name in names:
        store.save(name, {"sandbox_id": f"sandbox-of-{name}", "sandbox_url": "http://localhost:8080"})
    for name in names:
        if store.load(name)["sandbox_id"] != f"sandbox-of-{name}":
            raise AssertionError(f"{name} does not hold what was saved")
    for name in names[100:]:
        store.remove(name)
    took = (time.perf_counter() - start) * 1000
    left = sum(store.record(name).exists() for name in names)
    print(f"  {THREADS} saved, {THREADS} loaded, {THREADS - left} deleted in {took:.0f} ms")


def contrast(work, plain, mount, describe):
    """The same work on the plain disk and on the mount; returns what the mount gave."""
    os.makedirs(plain, exist_ok=True)
    print(f"  plain disk: {describe(work(plain))}")
    result = work(mount)
    print(f"  threadfs:   {describe(result)}")
    return result


def reads(seen):
    return f"{seen.total():,} reads, {seen['empty']:,} empty, {seen['broken']:,} broken"


def check(failures, holds, message):
    if not holds:
        failures.append(message)


if __name__ == "__main__":
    sys.exit(main())
