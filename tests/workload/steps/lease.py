"""Takes leases on files, fcntl(2), and has another process break them. usage: lease.py FILE..."""

import errno
import fcntl
import os
import signal
import sys

SIGNALS = {signal.SIGIO}


def opened_by_another(path, flags):
    """What open(2) gives another process, which ends with it; called while it waits if it does."""
    child = os.fork()
    if child == 0:
        try:
            os.close(os.open(path, flags))
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    return child


def status(child):
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return errno.errorcode.get(code, code)


def attempt(file, lease):
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, lease)
        return fcntl.fcntl(file, fcntl.F_GETLEASE)
    except OSError as error:
        return errno.errorcode[error.errno]


signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
for path in sys.argv[1:]:
    name = os.path.basename(path)
    for flags, lease, breaks in [
        (os.O_RDWR, fcntl.F_WRLCK, os.O_RDONLY),
        (os.O_RDONLY, fcntl.F_RDLCK, os.O_WRONLY),
    ]:
        file = os.open(path, flags)
        print(name, "taken:", attempt(file, lease))
        print(name, "without waiting:", status(opened_by_another(path, breaks | os.O_NONBLOCK)))
        print(name, "told:", signal.sigwait(SIGNALS) == signal.SIGIO)
        # The one who wants the file waits until the lease is given back.
        child = opened_by_another(path, breaks)
        print(name, "given back:", attempt(file, fcntl.F_UNLCK) == fcntl.F_UNLCK)
        print(name, "opened:", status(child))
        # What contradicts a lease is refused.
        other = os.open(path, os.O_RDWR)
        print(name, "beside a writer:", attempt(file, lease))
        os.close(other)
        os.close(file)
    file = os.open(path, os.O_RDONLY)
    print(name, "read lease beside a reader:", attempt(file, fcntl.F_RDLCK))
    print(name, "another reader:", status(opened_by_another(path, os.O_RDONLY)))
    os.close(file)
