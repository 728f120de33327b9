"""Sandbox records as DeerFlow keeps them.

A workload takes a Scope and returns {name: Sample}.
"""

import json
import os

from measure import WARM_UP, Sample, for_a_while, once_each
from processes import together
from store import Store

THREADS = 200
PROCESSES = 8


def record(number):
    """A record of about 200 bytes, the size of a real one."""
    return {
        "sandbox_id": f"{number:08x}",
        "sandbox_url": "http://localhost:8080",
        "container_name": f"deer-flow-sandbox-{number:08x}",
        "container_id": "0123456789abcdef0123456789abcdef",
        "created_at": 1700000000.123456,
    }


def prepare(scope, count=THREADS):
    store = Store(scope.home)
    threads = [scope.thread(number) for number in range(count)]
    return store, threads


def prepare_saved(scope):
    store, threads = prepare(scope)
    for number, thread in enumerate(threads):
        store.save(thread, record(number))
    return store, threads


def save(scope):
    store, threads = prepare(scope)
    first = once_each(threads, lambda thread: store.save(thread, record(1)))
    again = for_a_while(scope.seconds, lambda n: store.save(threads[n % THREADS], record(n)))
    return {"save_first": first, "save": again}


def load(scope):
    store, threads = prepare_saved(scope)
    return {"load": for_a_while(scope.seconds, lambda n: store.load(threads[n % THREADS]))}


def cycle(store, thread, number):
    with store.lock(thread):
        store.load(thread)
        store.save(thread, record(number))


def acquire(scope):
    store, threads = prepare_saved(scope)
    for thread in threads:
        cycle(store, thread, 0)
    return {"acquire": for_a_while(scope.seconds, lambda n: cycle(store, threads[n % THREADS], n))}


def acquire_contended(scope):
    """All processes on one thread, each adding one to a counter: none may be lost."""
    store, (thread,) = prepare(scope, 1)
    store.save(thread, {"counter": 0})

    def add(_):
        with store.lock(thread):
            info = store.load(thread)
            store.save(thread, {**record(1), "counter": info["counter"] + 1})

    sample = from_all(lambda rank: for_a_while(scope.seconds, add))
    lost = sample.operations + PROCESSES * WARM_UP - store.load(thread)["counter"]
    if lost:
        raise AssertionError(f"{lost} updates lost")
    return {"acquire_contended": sample}


def acquire_parallel(scope):
    """The same number of processes, each with threads of its own."""
    store, threads = prepare_saved(scope)

    def work(rank):
        mine = threads[rank::PROCESSES]
        return for_a_while(scope.seconds, lambda n: cycle(store, mine[n % len(mine)], n))

    return {"acquire_parallel": from_all(work)}


def replace_fsync(scope):
    """A temporary file, fsync, os.replace."""
    store, threads = prepare_saved(scope)

    def replace(number):
        target = store.record(threads[number % THREADS])
        temporary = f"{target}.tmp"
        write_synced(temporary, number)
        os.replace(temporary, target)

    return {"replace_fsync": for_a_while(scope.seconds, replace)}


def save_fsync(scope):
    store, threads = prepare_saved(scope)
    return {
        "save_fsync": for_a_while(
            scope.seconds, lambda n: write_synced(store.record(threads[n % THREADS]), n)
        )
    }


def write_synced(path, number):
    with open(path, "w") as file:
        file.write(json.dumps(record(number)))
        file.flush()
        os.fsync(file.fileno())


def from_all(work):
    """Runs work(rank) in all processes at once; the sum of what they did in the longest time."""
    samples = together([lambda rank=rank: work(rank) for rank in range(PROCESSES)])
    return Sample(sum(s.operations for s in samples), max(s.seconds for s in samples))
