#!/usr/bin/env python3
"""Holds the lock of a thread, with a second process waiting for it, until it is killed.

usage: hold.py MOUNT THREAD
"""

import os
import signal
import sys
import time

from store import Store


def main():
    store = Store(sys.argv[1])
    thread = sys.argv[2]
    held, tell = os.pipe()
    # Forked before the lock is taken: a child would inherit the lock with the open file.
    if os.fork() == 0:
        os.read(held, 1)
        with store.lock(thread):
            os._exit(0)
    with store.lock(thread):
        os.write(tell, b".")
        time.sleep(0.3)
        print("held", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
