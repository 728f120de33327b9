"""Timing: how many operations took how long."""

import time
from dataclasses import dataclass

WARM_UP = 10


@dataclass
class Sample:
    operations: float
    seconds: float

    @property
    def rate(self):
        return self.operations / self.seconds

    @property
    def time(self):
        """Seconds for one operation."""
        return self.seconds / self.operations


def for_a_while(seconds, call, most=100_000):
    """Calls call(0), call(1), ... until the time is over or `most` calls are made."""
    for number in range(WARM_UP):
        call(number)
    done = 0
    start = time.perf_counter()
    end = start + seconds
    now = start
    while now < end and done < most:
        call(done)
        done += 1
        now = time.perf_counter()
    return Sample(done, now - start)


def once_each(items, call):
    """Calls call(item) for each item, once, with no warm-up."""
    start = time.perf_counter()
    for item in items:
        call(item)
    return Sample(len(items), time.perf_counter() - start)
