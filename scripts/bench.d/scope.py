"""What one run of a workload gets: where to work, for how long, under which names."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import caches


@dataclass
class Scope:
    home: Path
    backing: Path | None
    name: str
    seconds: float

    def thread(self, number):
        return f"{self.name}-{number:04}"

    def workspace(self):
        """A folder for ordinary files, in a thread of this run."""
        folder = self.home / "threads" / self.name / "user-data" / "workspace"
        os.makedirs(folder)
        return folder

    def drop_caches(self, path):
        """What is read next comes from the filesystem, and from the disk below it."""
        caches.forget(path)
        if self.backing:
            caches.forget_all(self.backing)

    def clean(self):
        threads = self.home / "threads"
        if not threads.exists():
            return
        for entry in sorted(os.listdir(threads)):
            if entry.startswith(self.name):
                shutil.rmtree(threads / entry)
