#!/usr/bin/env python3
"""Compares threadfs with a null FUSE filesystem and with the local disk."""

import argparse
import json
import os
import shlex
import signal
import sys
import tempfile

import data
import docs
import files
import history
import memory
import programs
import report
import runner
import state
import targets

WORKLOADS = {
    "save": state.save,
    "load": state.load,
    "acquire": state.acquire,
    "contended": state.acquire_contended,
    "parallel": state.acquire_parallel,
    "replace": state.replace_fsync,
    "durable": state.save_fsync,
    "cached": files.cached,
    "tree": files.tree,
    "sequential": data.sequential,
    "random": data.random_access,
    "sqlite": programs.sqlite,
    "git": programs.git,
}


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.threadfs = os.path.join(options.programs, "threadfs")
    options.nullfs = os.path.join(options.programs, "examples", "nullfs")
    command = shlex.join(["scripts/bench", *options.shown])
    with tempfile.TemporaryDirectory(prefix="threadfs-bench-", ignore_cleanup_errors=True) as work:
        judge = measure_memory if options.memory else measure_history if options.history else compare
        text, verdicts, failures = judge(options, work)
    text = f"{text}\n\n`{command}` on {report.machine()}."
    print(text + "\n")
    for holds, sentence in verdicts:
        print(f"{'ok    ' if holds else 'MISSED'} {sentence}")
    for target, workload, error in failures:
        print(f"FAILED {workload} on {target}: {error}")
    if options.write_docs:
        docs.put("memory" if options.memory else "history" if options.history else "speed", text)
    return 1 if failures or not all(holds for holds, _ in verdicts) else 0


def compare(options, work):
    kinds = targets.OWN + (targets.PEERS if options.peers else ())
    if options.targets:
        kinds = [kind for kind in targets.OWN + targets.PEERS if kind.name in options.targets]
    chosen = {name: WORKLOADS[name] for name in options.workloads or WORKLOADS}
    names = [kind.name for kind in kinds]
    minutes = options.minutes * max(1, len(kinds) / len(targets.OWN))
    with targets.running(kinds, work, options) as started:
        results, failures = runner.run(started, chosen, options.rounds, options.seconds, minutes)
    if options.json:
        write_json(options.json, results)
    return report.table(results, names), report.verdicts(results, names), failures


def measure_memory(options, work):
    with targets.running([targets.ThreadFs], work, options) as (target,):
        steps = memory.measure(target)
    return memory.table(steps), [memory.verdict(steps)], []


def measure_history(options, work):
    rows = history.measure(options, work)
    return history.table(rows), list(history.verdicts(rows)), []


def write_json(path, results):
    plain = {
        metric: {target: [vars(s) for s in rounds.values()] for target, rounds in by_target.items()}
        for metric, by_target in results.items()
    }
    with open(path, "w") as file:
        json.dump(plain, file, indent=1)


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    p.add_argument("--peers", action="store_true", help="also JuiceFS and bindfs (installs them)")
    p.add_argument("--memory", action="store_true", help="only the daemon's memory after 100,000 files and 1 GiB")
    p.add_argument("--history", action="store_true", help="only what snapshots, forks and restores cost")
    p.add_argument("--parts", type=names_of(history.PARTS), help=f"of the history, some of: {', '.join(history.PARTS)}")
    p.add_argument("--files", type=int, default=100_000, help="files of the large thread (default 100000)")
    p.add_argument("--names", type=int, default=200_000, help="names in the large directory (default 200000)")
    p.add_argument("--gib", type=int, default=5, help="size of the large file (default 5)")
    p.add_argument("--write-docs", action="store_true", help="put the table into docs/performance.md")
    p.add_argument("--workloads", type=names_of(WORKLOADS), help=f"some of: {', '.join(WORKLOADS)}")
    kinds = [kind.name for kind in targets.OWN + targets.PEERS]
    p.add_argument("--targets", type=names_of(kinds), help=f"some of: {', '.join(kinds)}")
    p.add_argument("--rounds", type=int, default=9, help="rounds of each workload (default 9)")
    p.add_argument("--seconds", type=float, default=0.3, help="time of one loop (default 0.3)")
    p.add_argument("--minutes", type=float, default=5, help="fewer rounds rather than longer (default 5; peers add theirs)")
    p.add_argument("--threads", type=int, default=2, help="FUSE threads of the null filesystem (default 2)")
    p.add_argument("-o", dest="options", action="append", default=[], metavar="KEY=VALUE", help="passed to threadfs mount")
    p.add_argument("--json", metavar="FILE", help="all samples")
    p.add_argument("--programs", default=os.environ.get("PROGRAMS"), help="folder of the built programs")
    p.add_argument("--juicefs", default=os.environ.get("JUICEFS", "juicefs"), help=argparse.SUPPRESS)
    options = p.parse_args()
    if not options.programs:
        p.error("run scripts/bench, which builds the programs, or give --programs")
    options.shown = [a for a in sys.argv[1:] if a != "--write-docs"]
    return options


def names_of(known):
    def parse(text):
        wanted = text.split(",")
        for name in wanted:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no {name!r}; there are {', '.join(known)}")
        return wanted

    return parse


if __name__ == "__main__":
    sys.exit(main())
