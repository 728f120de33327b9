"""Asynchronous direct writes beside buffered reads: when a write is done, a read sees it.

usage: async_direct.py MOUNTPOINT ROUNDS; prints the number of rounds with old bytes after the write
"""

import ctypes
import mmap
import os
import struct
import sys
import threading

SIZE = 640 << 10
IO_SETUP, IO_GETEVENTS, IO_SUBMIT = (206, 208, 209) if os.uname().machine == "x86_64" else (0, 4, 2)
PWRITE = 1

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def write(context, fd, buffer):
    """io_submit(2) of one write at offset 0, and io_getevents(2) until it is done."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    # struct iocb: data, key and flags, opcode, priority, descriptor, buffer, length, offset.
    request = ctypes.create_string_buffer(struct.pack("<QIIHhIQQqQII", 0, 0, 0, PWRITE, 0, fd, address, SIZE, 0, 0, 0, 0))
    requests = (ctypes.c_void_p * 1)(ctypes.addressof(request))
    call(IO_SUBMIT, context, ctypes.c_long(1), requests)
    event = ctypes.create_string_buffer(32)
    call(IO_GETEVENTS, context, ctypes.c_long(1), ctypes.c_long(1), event, None)
    done = struct.unpack_from("<q", event, 16)[0]
    if done != SIZE:
        raise OSError(-done, "the write")


def main(mountpoint, rounds):
    path = os.path.join(mountpoint, "file")
    context = ctypes.c_ulong()
    call(IO_SETUP, ctypes.c_long(8), ctypes.byref(context))
    direct = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    buffers = [mmap.mmap(-1, SIZE), mmap.mmap(-1, SIZE)]
    for buffer, byte in zip(buffers, b"\xaa\x55"):
        buffer.write(bytes([byte]) * SIZE)
    stop = threading.Event()

    def keep_reading():
        reader = os.open(path, os.O_RDONLY)
        while not stop.is_set():
            os.pread(reader, SIZE, 0)

    readers = [threading.Thread(target=keep_reading) for _ in range(2)]
    write(context, direct, buffers[0])
    for reader in readers:
        reader.start()
    buffered = os.open(path, os.O_RDONLY)
    stale = 0
    try:
        for turn in range(int(rounds)):
            buffer = buffers[turn % 2]
            write(context, direct, buffer)
            stale += os.pread(buffered, SIZE, 0) != buffer[:]
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    print(stale)


main(*sys.argv[1:])
