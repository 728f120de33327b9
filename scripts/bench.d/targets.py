"""The filesystems that are compared: each is started on a folder of its own and stopped again."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

PATIENCE_S = 30


class Disk:
    """The local disk under the temporary folder."""

    name = "disk"

    def __init__(self, folder, tools):
        self.folder, self.tools = Path(folder), tools
        self.home = self.folder / "home"
        self.backing = None

    def start(self):
        os.makedirs(self.home)

    def stop(self):
        pass

    def mounted(self):
        return os.path.ismount(self.home)

    def run(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {command[0]} failed: {done.stdout.strip()}")

    def unmount(self):
        if self.mounted():
            self.run("umount", str(self.home))


class NullFs(Disk):
    """The project's own floor: the same FUSE settings, everything in memory, nothing stored."""

    name = "nullfs"

    def start(self):
        super().start()
        self.process = subprocess.Popen([self.tools.nullfs, self.home, str(self.tools.threads)])
        wait_until(self.mounted, "nullfs to mount")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()


class ThreadFs(Disk):
    name = "threadfs"

    def start(self):
        super().start()
        self.backing = self.folder / "store"
        options = [part for option in self.tools.options for part in ("-o", option)]
        log = self.folder / "log"
        self.run(
            self.tools.threadfs, "mount", *options, "--log-file", str(log), str(self.backing), str(self.home)
        )

    def stop(self):
        if self.mounted():
            self.run(self.tools.threadfs, "umount", str(self.home))

    def pid(self):
        done = subprocess.check_output([self.tools.threadfs, "status", self.home, "--json"])
        return json.loads(done)["pid"]


class JuiceFs(Disk):
    """Metadata in SQLite and objects in a folder, as on one host."""

    name = "juicefs"

    def start(self):
        super().start()
        self.backing = self.folder / "backing"
        os.makedirs(self.backing)
        meta = f"sqlite3://{self.backing}/meta.db"
        objects = self.backing / "objects"
        self.run(
            self.tools.juicefs, "--no-agent", "format", "--storage", "file", "--bucket", str(objects),
            "--trash-days", "0", meta, "bench",
        )  # fmt: skip
        self.run(
            self.tools.juicefs, "--no-agent", "mount", "-d", "--no-usage-report", "--no-syslog",
            "--log", str(self.folder / "log"), "--cache-dir", str(self.backing / "cache"), meta, str(self.home),
        )  # fmt: skip

    def stop(self):
        if self.mounted():
            self.run(self.tools.juicefs, "umount", str(self.home))


class BindFs(Disk):
    """A FUSE filesystem that passes everything on to a folder of the disk."""

    name = "bindfs"

    def start(self):
        super().start()
        self.backing = self.folder / "backing"
        os.makedirs(self.backing)
        self.run("bindfs", str(self.backing), str(self.home))

    def stop(self):
        self.unmount()


OWN = (ThreadFs, NullFs, Disk)
PEERS = (JuiceFs, BindFs)


@contextlib.contextmanager
def running(kinds, work, tools):
    """All of them started; whatever happens, none stays mounted."""
    started = []
    try:
        for kind in kinds:
            target = kind(Path(work) / kind.name, tools)
            started.append(target)
            target.start()
        yield started
    finally:
        for target in started:
            try:
                target.stop()
            except Exception as error:
                print(f"{target.name}: {error}")
            if target.mounted():
                subprocess.run(["umount", "--lazy", target.home])


def wait_until(ready, what):
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.05)
