"""Programs that people run in a workspace: SQLite and git."""

import os
import sqlite3
import subprocess

from measure import Sample, for_a_while, once_each

MOST_TRANSACTIONS = 1000
FILES = 1000


def sqlite(scope):
    folder = scope.workspace()
    return {
        "sqlite_wal": transactions(folder / "wal.db", "WAL", "NORMAL", scope.seconds),
        "sqlite_delete": transactions(folder / "delete.db", "DELETE", "FULL", scope.seconds),
    }


def transactions(path, journal, synchronous, seconds):
    db = sqlite3.connect(path, isolation_level=None)
    mode = db.execute(f"pragma journal_mode={journal}").fetchone()[0]
    if mode.upper() != journal:
        raise AssertionError(f"journal mode {mode} instead of {journal}")
    db.execute(f"pragma synchronous={synchronous}")
    db.execute("create table t(id integer primary key, v text)")

    def insert(_):
        db.execute("insert into t(v) values(?)", ("x" * 100,))

    sample = for_a_while(seconds, insert, MOST_TRANSACTIONS)
    verdict = db.execute("pragma integrity_check").fetchone()[0]
    db.close()
    if verdict != "ok":
        raise AssertionError(f"integrity_check: {verdict}")
    return sample


def git(scope):
    """init, add and commit; an operation is one file of the repository."""
    folder = scope.workspace()
    for number in range(FILES):
        part = folder / f"part{number % 10}"
        os.makedirs(part, exist_ok=True)
        (part / f"file{number}.txt").write_text(f"file {number}\n" * 20)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "bench",
        "GIT_AUTHOR_EMAIL": "bench@localhost",
        "GIT_COMMITTER_NAME": "bench",
        "GIT_COMMITTER_EMAIL": "bench@localhost",
    }

    def run(*command):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True, capture_output=True)

    def work(_):
        run("init", "--quiet")
        run("-c", "gc.auto=0", "add", ".")
        run("-c", "gc.auto=0", "commit", "--quiet", "--message", "all")

    return {"git": Sample(FILES, once_each([None], work).seconds)}
