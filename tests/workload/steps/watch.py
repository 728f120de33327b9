"""FOLDER COMMAND...: the events in a folder while a command runs."""
import ctypes, os, select, struct, subprocess, sys

NAMES = {
    0x2: "MODIFY", 0x4: "ATTRIB", 0x8: "CLOSE_WRITE", 0x40: "MOVED_FROM", 0x80: "MOVED_TO",
    0x100: "CREATE", 0x200: "DELETE",
}  # fmt: skip
libc = ctypes.CDLL(None, use_errno=True)
watcher = libc.inotify_init1(os.O_NONBLOCK)
if libc.inotify_add_watch(watcher, os.fsencode(sys.argv[1]), sum(NAMES)) < 0:
    raise OSError(ctypes.get_errno(), "inotify_add_watch")
subprocess.run(sys.argv[2:], check=True)
while select.select([watcher], [], [], 0)[0]:
    events = os.read(watcher, 1 << 16)
    while events:
        _, mask, _, length = struct.unpack_from("iIII", events)
        name = events[16 : 16 + length].rstrip(b"\0")
        print("+".join(text for bit, text in NAMES.items() if mask & bit), os.fsdecode(name))
        events = events[16 + length :]
