"""Large files: sequential and random, from a cold and a warm cache."""

import os
import random

from measure import Sample, for_a_while, once_each

MIB = 1 << 20
LARGE_MIB = 256
RANDOM_MIB = 64
PAGE = 4096


def sequential(scope):
    path = scope.workspace() / "large.bin"
    blocks = [os.urandom(MIB) for _ in range(4)]
    results = {"write_seq": write(path, blocks, LARGE_MIB)}
    scope.drop_caches(path)
    results["read_seq_cold"] = read(path, blocks)
    results["read_seq_warm"] = read(path, blocks)
    return results


def random_access(scope):
    path = scope.workspace() / "random.bin"
    write(path, [os.urandom(MIB)], RANDOM_MIB)
    places = list(range(RANDOM_MIB * MIB // PAGE))
    random.Random(3).shuffle(places)
    page = os.urandom(PAGE)
    scope.drop_caches(path)
    file = os.open(path, os.O_RDWR)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    # Each page is read once, so that none comes from the cache.
    reads = for_a_while(
        scope.seconds, lambda n: os.pread(file, PAGE, places[n] * PAGE), most=len(places)
    )
    writes = for_a_while(
        scope.seconds, lambda n: os.pwrite(file, page, places[n % len(places)] * PAGE)
    )
    sync = once_each([file], os.fsync)
    os.close(file)
    return {
        "read_random_4k": reads,
        "write_random_4k": Sample(writes.operations, writes.seconds + sync.seconds),
    }


def write(path, blocks, mib):
    """MiB written and on disk."""

    def work(_):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for number in range(mib):
            if os.write(file, blocks[number % len(blocks)]) != MIB:
                raise AssertionError("a short write")
        os.fsync(file)
        os.close(file)

    return Sample(mib, once_each([None], work).seconds)


def read(path, blocks):
    def work(_):
        file = os.open(path, os.O_RDONLY)
        number = 0
        while data := os.read(file, MIB):
            if number % 64 == 0 and data != blocks[number % len(blocks)]:
                raise AssertionError(f"wrong content in MiB {number}")
            number += 1
        os.close(file)
        if number < LARGE_MIB:
            raise AssertionError("the file is too short")

    return Sample(LARGE_MIB, once_each([None], work).seconds)
