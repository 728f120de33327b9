"""SAVER: LangGraph's conformance kit on a saver of SQLite, with its database in this folder."""
import asyncio, contextlib, json, sqlite3, sys

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import ProgressCallbacks
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

DATABASE = "checkpoints.db"


class Called(SqliteSaver):
    """The kit awaits what it calls; this saver has no such methods."""

    async def aput(self, *arguments, **options):
        return self.put(*arguments, **options)

    async def aput_writes(self, *arguments, **options):
        return self.put_writes(*arguments, **options)

    async def aget_tuple(self, *arguments, **options):
        return self.get_tuple(*arguments, **options)

    async def alist(self, *arguments, **options):
        for found in self.list(*arguments, **options):
            yield found

    async def adelete_thread(self, *arguments, **options):
        return self.delete_thread(*arguments, **options)


@checkpointer_test(name="SqliteSaver")
async def synchronous():
    with contextlib.closing(sqlite3.connect(DATABASE, check_same_thread=False)) as connection:
        yield Called(connection)


@checkpointer_test(name="AsyncSqliteSaver")
async def asynchronous():
    async with AsyncSqliteSaver.from_conn_string(DATABASE) as saver:
        yield saver


results = {}


def note(capability, test, passed, error):
    results[f"{capability}: {test}"] = "passed" if passed else "failed"
    if error:
        print(capability, test, error)


async def main():
    saver = {"SqliteSaver": synchronous, "AsyncSqliteSaver": asynchronous}[sys.argv[1]]
    report = await validate(saver, progress=ProgressCallbacks(on_test_result=note))
    for capability, result in report.results.items():
        if not result.detected:
            results[capability] = "not implemented"
    # Another connection, and the file as a whole.
    with contextlib.closing(sqlite3.connect(DATABASE)) as connection:
        results["integrity_check"] = connection.execute("pragma integrity_check").fetchone()[0]
        results["journal_mode"] = connection.execute("pragma journal_mode").fetchone()[0]


asyncio.run(main())
print(json.dumps(results))
