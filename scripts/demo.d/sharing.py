"""Many processes on one record: who creates it, and whether an update is ever lost."""

import os

from processes import together
from store import Store

PROCESSES = 8
CYCLES = 100


def who_creates(home):
    """All processes ask at once for the sandbox of one thread. Returns (created, recovered)."""
    store = Store(home)

    def ask():
        made = []

        def make():
            made.append(True)
            return {"sandbox_id": f"sandbox-of-{os.getpid()}"}

        info = store.acquire("thread_shared", make)
        return bool(made), info["sandbox_id"]

    answers = together([ask] * PROCESSES)
    if len({sandbox for _, sandbox in answers}) != 1:
        raise AssertionError(f"they did not agree on one sandbox: {answers}")
    created = sum(made for made, _ in answers)
    return created, PROCESSES - created


def count_under_lock(home):
    """Each process adds one to a counter again and again. Returns (expected, found)."""
    store = Store(home)
    store.save("thread_counter", {"counter": 0})

    def add():
        for _ in range(CYCLES):
            with store.lock("thread_counter"):
                info = store.load("thread_counter")
                store.save("thread_counter", {"counter": info["counter"] + 1})

    together([add] * PROCESSES)
    return PROCESSES * CYCLES, store.load("thread_counter")["counter"]
