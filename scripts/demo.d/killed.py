"""Writers that die in the middle of a write."""

import json
import os
import signal

from store import Store

WRITERS = 20


def kill_writers(home):
    """Returns (records that are still whole, records lost)."""
    store = Store(home)
    whole = 0
    for number in range(WRITERS):
        thread = f"thread_killed_{number:02}"
        before = {"sandbox_id": f"sandbox-{number}", "note": "n" * 500}
        store.save(thread, before)
        kill_in_the_middle(store.record(thread), json.dumps({**before, "note": "m" * 500}))
        try:
            whole += store.load(thread) == before
        except ValueError:
            pass
    return whole, WRITERS - whole


def kill_in_the_middle(path, text):
    ready, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        file = open(path, "w")
        file.write(text[: len(text) // 2])
        file.flush()
        os.write(tell, b".")
        signal.pause()
    os.read(ready, 1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(ready)
    os.close(tell)
