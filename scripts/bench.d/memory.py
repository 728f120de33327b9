"""The daemon's memory after many files and much data."""

import os
import re
from pathlib import Path

from files import create

FILES = 100_000
PER_FOLDER = 1000
WRITTEN_MIB = 1024
MOST_MIB = 300


def measure(target):
    """[(what was done, resident MiB, peak MiB)]"""
    pid = target.pid()
    steps = [("after the mount", *resident(pid))]
    top = target.home / "threads" / "memory" / "user-data"
    for folder in range(FILES // PER_FOLDER):
        os.makedirs(top / f"d{folder:03}")
        for number in range(PER_FOLDER):
            create(top / f"d{folder:03}" / f"f{number:04}")
    steps.append((f"and {FILES:,} files of 200 bytes", *resident(pid)))
    block = os.urandom(1 << 20)
    with open(top / "large.bin", "wb", buffering=0) as file:
        for _ in range(WRITTEN_MIB):
            file.write(block)
        os.fsync(file.fileno())
    steps.append((f"and {WRITTEN_MIB} MiB written to one file", *resident(pid)))
    return steps


def resident(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1024 for key in ("VmRSS", "VmHWM"))


def table(steps):
    lines = ["| | resident MiB | peak MiB |", "| --- | --: | --: |"]
    lines += [f"| {what} | {now:.0f} | {peak:.0f} |" for what, now, peak in steps]
    return "\n".join(lines)


def verdict(steps):
    peak = steps[-1][2]
    return peak <= MOST_MIB, f"memory: {peak:.0f} MiB at the peak, at most {MOST_MIB}"
