#!/usr/bin/env python3
"""Saves records until the filesystem goes away, and later checks that none is missing.

usage: crash.py save MOUNT LOG_FOLDER     stops by itself when the mount is gone
       crash.py check MOUNT LOG_FOLDER    exit status 1 when a save that returned is lost

A save counts once it has returned: then its number is added to a log on another disk.
"""

import os
import sys
from functools import partial
from pathlib import Path

from processes import together
from store import Store

WRITERS = 4


def main():
    what, mount, logs = sys.argv[1], Store(sys.argv[2]), Path(sys.argv[3])
    os.makedirs(logs, exist_ok=True)
    if what == "check":
        return check(mount, logs)
    parent = os.getpid()
    together([partial(save, mount, logs, number, parent) for number in range(WRITERS)])
    return 0


def save(store, logs, number, parent):
    with open(logs / f"{number}", "w") as log:
        saved = 0
        while os.getppid() == parent:
            try:
                store.save(f"thread_crash_{number}", {"saved": saved + 1})
            except OSError:
                return
            saved += 1
            log.write(f"{saved}\n")
            log.flush()


def check(store, logs):
    returned, lost = 0, 0
    for number in range(WRITERS):
        saved = len((logs / f"{number}").read_text().splitlines())
        returned += saved
        lost += max(0, saved - found(store, f"thread_crash_{number}"))
    print(f"{returned:,} saves had returned before the crash, {lost:,} of them lost")
    return 1 if lost or not returned else 0


def found(store, thread):
    """The number in the record; 0 when there is no record, or not a whole one."""
    try:
        return store.load(thread)["saved"]
    except (ValueError, TypeError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
