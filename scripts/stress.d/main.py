"""Runs stressors of stress-ng on a mount and, where one fails, on the local disk as well.

Each gets a mount and a store of its own. It has to end in time and with success, the daemon has to stay
within its bound of memory and to log no error, and the store has to be consistent afterwards. A stressor
that fails on the local disk too says nothing about a mount.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report
from stressors import CANNOT, STRESSORS

THREADFS = os.environ.get("THREADFS", "threadfs")
WORKSPACE = "threads/t/user-data/workspace"
MEMORY_MIB = 300
# Beyond the seconds of a run: what a stressor may take to stop and to remove its files.
PATIENCE_S = 120


def main():
    parser = argparse.ArgumentParser(prog="scripts/stress", description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="of each stressor (20)")
    parser.add_argument("--workers", type=int, default=2, help="processes of each stressor (2)")
    parser.add_argument("--page", help="a page whose table gets the results, if none fails")
    parser.add_argument("stressors", nargs="*", help="these only (all)")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    rows, failed = [], []
    for name in asked.stressors or STRESSORS:
        row, good = one(name, asked)
        rows.append(row)
        print(*row[:3], f"{row[3]} MiB", sep=" | ", flush=True)
        if not good:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")
    if asked.page:
        report.write(asked.page, rows, asked)


def one(name, asked):
    """A row of the table, and whether it is good."""
    with tempfile.TemporaryDirectory(prefix="threadfs-stress-", ignore_cleanup_errors=True) as folder:
        folder = Path(folder)
        os.chmod(folder, 0o755)
        trouble, peak = on_a_mount(name, asked, folder)
        if not trouble:
            return (name, "passes", "", peak), True
        disk = folder / "disk"
        disk.mkdir()
        there = stress(name, asked, disk)
        if name in CANNOT and "skipping" in trouble:
            return (name, CANNOT[name], there or "passes", peak), True
        if there and trouble.startswith("stress-ng"):
            return (name, trouble, "the same" if there == trouble else there, peak), True
        return (name, trouble, there or "passes", peak), False


def on_a_mount(name, asked, folder):
    """What went wrong, or nothing; and the most memory that the daemon took, in MiB."""
    store, mountpoint, log = folder / "store", folder / "mnt", folder / "log"
    mountpoint.mkdir()
    done = subprocess.run(
        [THREADFS, "mount", store, mountpoint, "--log-file", log], capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        return f"mount: {done.stderr}", 0
    pid = int(done.stdout.rsplit("pid ", 1)[1])
    try:
        workspace = mountpoint / WORKSPACE
        workspace.mkdir(parents=True)
        trouble = stress(name, asked, workspace)
        left = "" if trouble else remains(workspace)
        peak = memory(pid)
    finally:
        held = unmount(mountpoint, pid)
    if held:
        return f"umount: {held}", peak
    check = subprocess.run([THREADFS, "fsck", store], capture_output=True, text=True, timeout=600)
    errors = [line for line in log.read_text().splitlines() if " ERROR " in line and "No such file" not in line]
    if check.returncode:
        trouble = trouble or f"fsck: {check.stdout} {check.stderr}"
    elif errors:
        trouble = trouble or f"log: {errors[0]}"
    elif peak > MEMORY_MIB:
        trouble = trouble or f"the daemon took {peak} MiB"
    return trouble or left, peak


def unmount(mountpoint, pid):
    """Ends a mount: what went wrong, or nothing. A container that was started meanwhile may hold it for a while."""
    done = subprocess.run([THREADFS, "umount", mountpoint], capture_output=True, text=True, timeout=120)
    if os.path.ismount(mountpoint):
        subprocess.run(["umount", "-l", mountpoint], check=False)
        return done.stderr
    until = time.monotonic() + PATIENCE_S
    while os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > until:
            return done.stderr or "the daemon does not end"
        time.sleep(0.05)
    return ""


def stress(name, asked, folder):
    """Runs one stressor in a folder: what went wrong, or nothing."""
    command = ["stress-ng", f"--{name}", str(asked.workers), "--timeout", f"{asked.seconds}s", "--verify"]
    command += ["--temp-path", str(folder), *STRESSORS.get(name, ())]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=folder
    )
    try:
        output, _ = process.communicate(timeout=asked.seconds + PATIENCE_S)
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        # Whatever is left of it, also after an interrupt.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    said = told(output)
    if process.returncode:
        failures = [line for kind, line in said if kind in ("fail", "error") and "terminated with" not in line]
        return f"stress-ng: {'; '.join(failures[:2]) or said[-1:]}"
    skipped = [line for _, line in said if "skipping" in line]
    return f"stress-ng: {skipped[0]}" if skipped else ""


def told(output):
    """What stress-ng said: the kind and the text of each line, once."""
    lines = [re.match(r"stress-ng: (\w+): +\[\d+\] (.*)", line) for line in output.splitlines()]
    return list(dict.fromkeys(line.groups() for line in lines if line))


def remains(folder):
    names = os.listdir(folder)
    return f"left behind: {names}" if names else ""


def memory(pid):
    """The most memory that a process has had, in MiB."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    return 0


if __name__ == "__main__":
    main()
