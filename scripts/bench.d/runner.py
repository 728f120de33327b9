"""Runs workload by workload, round by round, target by target, so that what disturbs
the machine disturbs all targets alike."""

import signal
import sys
import time

from scope import Scope

LIMIT_S = 90


def run(targets, workloads, rounds, seconds, minutes):
    """Returns {metric: {target: [Sample of each round]}} and the list of failures."""
    results, failures = {}, []
    end = time.monotonic() + minutes * 60
    signal.signal(signal.SIGALRM, too_long)
    for position, (name, workload) in enumerate(workloads.items()):
        share = (end - time.monotonic()) / (len(workloads) - position)
        started = time.monotonic()
        for number in range(rounds):
            # A round is begun only if it should end within the workload's share of the time.
            used = time.monotonic() - started
            if number and used + used / number > share:
                break
            shift = number % len(targets)
            for target in targets[shift:] + targets[:shift]:
                scope = Scope(target.home, target.backing, f"{name}-{number}", seconds)
                progress(f"{name}, round {number + 1}, {target.name}")
                try:
                    samples = limited(workload, scope)
                except Exception as error:
                    failures.append((target.name, name, f"{type(error).__name__}: {error}"))
                    samples = {}
                for metric, sample in samples.items():
                    results.setdefault(metric, {}).setdefault(target.name, {})[number] = sample
    progress("")
    return results, failures


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text.ljust(60)}\r", end="", file=sys.stderr, flush=True)


def limited(workload, scope):
    signal.alarm(LIMIT_S)
    try:
        samples = workload(scope)
        scope.clean()
        return samples
    finally:
        signal.alarm(0)


def too_long(*_):
    raise TimeoutError(f"not done within {LIMIT_S} s")
