"""Readers without a lock, while two writers rewrite the record they read."""

import json
import random
import time
from collections import Counter

from processes import FORK, together
from store import Store

SIZES = (200, 4_000, 60_000)
READERS = 3
WRITERS = 2
READS = 1_500
LIMIT_S = 10


def read_while_written(home):
    """Returns how many reads gave what: whole, empty, broken."""
    store = Store(home)
    record = store.record("thread_torn")
    store.save("thread_torn", document(0, SIZES[0]))
    stop = FORK.Event()
    deadline = time.monotonic() + LIMIT_S

    def write():
        choose = random.Random(1).choice
        number = 0
        while not stop.is_set() and time.monotonic() < deadline:
            number += 1
            record.write_text(json.dumps(document(number, choose(SIZES))))

    def read():
        seen = Counter()
        while seen.total() < READS and time.monotonic() < deadline:
            seen[classify(record.read_text())] += 1
        stop.set()
        return seen

    counts = together([read] * READERS + [write] * WRITERS)[:READERS]
    return sum(counts, Counter())


def document(number, size):
    letter = "abcdefghijklmnopqrstuvwxyz"[number % 26]
    return {"number": number, "size": size, "text": letter * size}


def classify(text):
    if not text:
        return "empty"
    try:
        read = json.loads(text)
    except ValueError:
        return "broken"
    whole = len(read["text"]) == read["size"] and len(set(read["text"])) == 1
    return "whole" if whole else "broken"
