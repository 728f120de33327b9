libc = ctypes.CDLL(None, use_errno=True)
KEEP, PUNCH, COLLAPSE, ZERO, INSERT = 1, 2, 8, 16, 32


def fallocate(fd, mode, offset, length):
    if libc.fallocate(fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
