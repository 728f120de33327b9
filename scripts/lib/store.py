"""Sandbox records kept the way DeerFlow keeps them: ordinary files, flock, nothing else."""

import contextlib
import fcntl
import json
import os
from pathlib import Path


class Store:
    def __init__(self, home):
        self.home = Path(home)

    def directory(self, thread):
        return self.home / "threads" / thread

    def record(self, thread):
        return self.directory(thread) / "sandbox.json"

    def save(self, thread, info):
        os.makedirs(self.directory(thread), exist_ok=True)
        self.record(thread).write_text(json.dumps(info))

    def load(self, thread):
        if not self.record(thread).exists():
            return None
        return json.loads(self.record(thread).read_text())

    def remove(self, thread):
        self.record(thread).unlink()

    @contextlib.contextmanager
    def lock(self, thread):
        os.makedirs(self.directory(thread), exist_ok=True)
        with open(self.directory(thread) / "sandbox.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)

    def acquire(self, thread, make):
        """The sandbox of a thread; `make` is called only when there is none yet."""
        with self.lock(thread):
            info = self.load(thread)
            if info is None:
                info = make()
                self.save(thread, info)
        return info
