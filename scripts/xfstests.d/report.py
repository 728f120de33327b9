"""Counts how the tests of a run of xfstests ended, and compares with what is expected to fail.

usage: report.py fuse|ext4 CHECK_LOG EXPECTED

EXPECTED has a line for each test that cannot pass on a mount: its name, and why.
"""

import sys


def named(log, label):
    """The tests behind a label of the summary that the suite writes at the end."""
    found = [line.removeprefix(label).split() for line in log if line.startswith(label)]
    return set(found[-1]) if found else set()


def main(kind, log_path, expected_path):
    with open(log_path) as file:
        log = file.read().splitlines()
    ran, skipped, failed = (named(log, label) for label in ("Ran:", "Not run:", "Failures:"))
    if not ran:
        sys.exit("The suite wrote no summary")
    print(f"{len(ran)} tests: {len(ran - skipped - failed)} passed, {len(skipped)} not run, {len(failed)} failed")
    with open(expected_path) as file:
        lines = [line.split(maxsplit=1) for line in file if line.strip() and not line.startswith("#")]
    reasons = {name: reason.strip() for name, reason in lines} if kind == "fuse" else {}
    for name in sorted(failed & reasons.keys()):
        print(f"{name} fails as expected: {reasons[name]}")
    for name in sorted((ran - skipped - failed) & reasons.keys()):
        print(f"{name} passes, and is expected to fail: {reasons[name]}")
    unexpected = sorted(failed - reasons.keys())
    for name in unexpected:
        print(f"{name} FAILED")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
