"""The tables: medians over the rounds, and ratios of the rounds that belong together."""

import os
import platform
import statistics

OURS = "threadfs"
# The time of one operation, as a multiple of the time it takes on the null filesystem.
MOST_TIMES_NULL = {"save": 2.0, "load": 1.5, "stat_cached": 1.3, "list_cached": 1.3}
FASTER_THAN_PEERS = ("save", "load", "acquire")
PEERS = ("juicefs", "bindfs")
IN_MIB = ("write_seq", "read_seq_cold", "read_seq_warm")


def table(results, targets):
    """Markdown: operations a second, and our time divided by the time of the others."""
    others = [name for name in targets if name != OURS]
    head = ["workload", *(f"{name} /s" for name in targets)]
    if OURS in targets:
        head += [f"time / {name}" for name in others] + ["at most"]
    lines = [row(head), row(["---"] + ["--:"] * (len(head) - 1))]
    for metric, by_target in results.items():
        cells = [metric + (" (MiB)" if metric in IN_MIB else "")]
        cells += [rate(by_target.get(name)) for name in targets]
        if OURS in targets:
            cells += [number(ratio(by_target, name)) for name in others]
            cells.append(f"{MOST_TIMES_NULL[metric]} null" if metric in MOST_TIMES_NULL else "")
        lines.append(row(cells))
    return "\n".join(lines)


def verdicts(results, targets):
    """(holds, sentence) for each target of speed that this run could judge."""
    judged = []
    for metric, most in MOST_TIMES_NULL.items():
        times = ratio(results.get(metric, {}), "nullfs")
        if times is not None:
            judged.append((times <= most, f"{metric}: {times:.2f} times the null filesystem, at most {most}"))
    for peer in PEERS:
        for metric in FASTER_THAN_PEERS:
            times = ratio(results.get(metric, {}), peer)
            if times is not None:
                judged.append((times < 1, f"{metric}: {1 / times:.2f} times as many a second as {peer}"))
    return judged


def ratio(by_target, other):
    """Our time over the other's, the median over the rounds that both have."""
    ours, theirs = by_target.get(OURS, {}), by_target.get(other, {})
    pairs = [ours[key].time / theirs[key].time for key in ours.keys() & theirs.keys()]
    return statistics.median(pairs) if pairs else None


def rate(samples):
    return number(statistics.median(s.rate for s in samples.values())) if samples else "–"


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value < 1 else f"{value:.2f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def machine():
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return f"Linux {platform.release().split('-')[0]}, {os.cpu_count()} cores, {gib:.0f} GiB of memory"
