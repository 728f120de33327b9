"""Does what it is told, one line at a time: the far end of support/actor.rs."""
import array, ctypes, errno, fcntl, json, mmap, os, pathlib, resource, shutil, signal, socket
import sqlite3, stat, struct, subprocess, sys, tempfile, threading, time

replies = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
signal.signal(signal.SIGINT, signal.default_int_handler)
names = dict(globals())
# Of two names of one number, the one that POSIX and the manual use.
errno.errorcode.update({errno.EDEADLK: "EDEADLK", errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EAGAIN: "EAGAIN"})


def plain(value):
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, os.stat_result):
        return {k: getattr(value, k) for k in dir(value) if k.startswith("st_")}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return repr(value)


def do(line):
    try:
        code = compile(line, "test", "eval")
    except SyntaxError:
        exec(compile(line, "test", "exec"), names)
        return None
    return eval(code, names)


while line := sys.stdin.readline():
    try:
        reply = {"value": plain(do(json.loads(line)))}
    except OSError as error:
        name = errno.errorcode.get(error.errno, type(error).__name__)
        reply = {"error": name, "text": str(error)}
    except BaseException as error:
        reply = {"error": type(error).__name__, "text": str(error)}
    replies.write(json.dumps(reply) + "\n")
