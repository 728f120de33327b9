"""MOUNT JOURNAL PROCESSES ROWS: all processes insert rows one by one into one database."""
import json, os, sqlite3, sys

root, journal, processes, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
path = root + "/data/deerflow.db"


def connect():
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    db.execute("pragma busy_timeout=60000")
    return db, db.execute(f"pragma journal_mode={journal}").fetchone()[0]


db, mode = connect()
db.execute("create table t (process integer, n integer, filling text, primary key (process, n))")
db.close()
reports = []
for process in range(processes):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            db, _ = connect()
            for n in range(rows):
                db.execute("begin immediate")
                seen = db.execute("select count(*) from t where process = ?", (process,)).fetchone()[0]
                assert seen == n, (seen, n)
                db.execute("insert into t values (?, ?, ?)", (process, n, "x" * 300))
                db.execute("commit")
        except BaseException as error:
            os.write(w, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(w)
    reports.append(r)
errors = [text for r in reports if (text := os.fdopen(r).read())]
db, _ = connect()
print(json.dumps({
    "mode": mode,
    "rows": db.execute("select count(*) from t").fetchone()[0],
    "integrity": db.execute("pragma integrity_check").fetchone()[0],
    "errors": errors,
}))
