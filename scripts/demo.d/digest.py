#!/usr/bin/env python3
"""Prints how many files a tree has and one checksum over all names, modes and contents.

usage: digest.py DIRECTORY
"""

import hashlib
import os
import sys


def main():
    top = sys.argv[1]
    total = hashlib.sha256()
    files = 0
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            mode = os.stat(path).st_mode
            total.update(f"{os.path.relpath(path, top)} {mode:o} {content}\n".encode())
            files += 1
    print(f"{files} files, checksum {total.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
