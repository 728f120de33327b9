"""Ordinary files of a workspace: many small ones, and what the kernel should answer from memory."""

import os

from measure import Sample, for_a_while, once_each

FILES = 2000
FOLDERS = 20
BODY = b"x" * 200


def tree(scope):
    top = scope.workspace()
    folders = [top / f"d{number:02}" for number in range(FOLDERS)]
    files = [folders[number % FOLDERS] / f"f{number:05}.txt" for number in range(FILES)]
    for folder in folders:
        os.mkdir(folder)
    results = {
        "tree_create": once_each(files, create),
        "tree_stat": once_each(files, os.stat),
        "tree_list": once_each(folders, list_whole),
        "tree_read": once_each(files, read),
        "tree_delete": once_each(files, os.unlink),
    }
    for folder in folders:
        os.rmdir(folder)
    return results


def create(path):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(file, BODY)
    os.close(file)


def read(path):
    with open(path, "rb") as file:
        if file.read() != BODY:
            raise AssertionError(f"wrong content in {path}")


def list_whole(path):
    if len(os.listdir(path)) != FILES // FOLDERS:
        raise AssertionError(f"names are missing in {path}")


def cached(scope):
    """stat and listdir of what was just looked at."""
    folder = scope.workspace()
    names = 500
    files = [folder / f"f{number:04}" for number in range(names)]
    for path in files:
        create(path)

    def stat_all(_):
        for path in files:
            os.stat(path)

    def list_it(_):
        if len(os.listdir(folder)) != names:
            raise AssertionError("names are missing")

    stats = for_a_while(scope.seconds, stat_all)
    return {
        "stat_cached": Sample(stats.operations * names, stats.seconds),
        "list_cached": for_a_while(scope.seconds, list_it),
    }
