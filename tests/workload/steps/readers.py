"""MODE SECONDS: a database with readers and writers, one of which is killed again and again.

Money is moved between accounts, so that its sum never changes; and whoever reads sees each transaction wholly.
"""
import os, random, signal, sqlite3, sys, time

mode, seconds = sys.argv[1], float(sys.argv[2])
ACCOUNTS, SUM = 200, 200 * 1000
until = time.monotonic() + seconds


def connect():
    database = sqlite3.connect(f"{mode}.db", timeout=60, isolation_level=None)
    database.execute("pragma synchronous=normal")
    database.execute("pragma cache_size=50")
    return database


def checked(database):
    [[total]], [[integrity]] = database.execute("select sum(money) from account"), database.execute("pragma integrity_check")
    if (total, integrity) != (SUM, "ok"):
        sys.exit(f"{total} and {integrity}")


def move(seed):
    chance, database = random.Random(seed), connect()
    while time.monotonic() < until:
        database.execute("begin immediate")
        for _ in range(chance.randrange(1, 50)):
            amount, one, other = chance.randrange(10), chance.randrange(ACCOUNTS), chance.randrange(ACCOUNTS)
            database.execute("update account set money = money - ?, note = ? where id = ?", (amount, "x" * chance.randrange(3000), one))
            database.execute("update account set money = money + ? where id = ?", (amount, other))
        database.execute(chance.choice(("commit", "commit", "rollback")))


def read():
    database = connect()
    while time.monotonic() < until:
        [[total]] = database.execute("select sum(money) from account")
        if total != SUM:
            sys.exit(f"the sum is {total}")


def start(work, *arguments):
    pid = os.fork()
    if pid == 0:
        try:
            work(*arguments)
        except BaseException as error:
            print(f"{work.__name__}: {error!r}", flush=True)
            os._exit(1)
        os._exit(0)
    return pid


database = connect()
assert database.execute(f"pragma journal_mode={mode}").fetchone() == (mode,)
database.execute("create table account (id integer primary key, money, note)")
database.executemany("insert into account values (?, 1000, '')", [(number,) for number in range(ACCOUNTS)])
database.close()
children = [start(read) for _ in range(6)] + [start(move, 0)]
chance, killed = random.Random(1), 0
while time.monotonic() < until - 1:
    victim = start(move, time.monotonic_ns())
    time.sleep(chance.uniform(0.05, 0.5))
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    database = connect()
    checked(database)
    database.close()
print(mode, {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children})
database = connect()
checked(database)
database.execute("pragma wal_checkpoint(truncate)")
database.execute("vacuum")
checked(database)
database.close()
