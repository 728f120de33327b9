#!/usr/bin/env python3
"""REPORT PAGE: puts what tests/conformance has reported into the table of a page."""

import json
import platform
import re
import sys
from datetime import date

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
COLUMNS = ("suite", "what", "on the mount", "on the disk", "time")


def main():
    report, page = sys.argv[1:]
    with open(report) as file:
        runs = [json.loads(line) for line in file]
    runs.sort(key=lambda run: (run["suite"], run["what"]))
    lines = [row(COLUMNS), row("---" for _ in COLUMNS)]
    lines += [row((run["suite"], run["what"], run["mount"], run["disk"], duration(run["seconds"]))) for run in runs]
    table = "\n".join(lines)
    text = f"{table}\n\nMeasured on {date.today()}, Linux {platform.release()}."
    with open(page) as file:
        old = file.read()
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(old):
        sys.exit(f"{page} has no place for the table")
    with open(page, "w") as file:
        file.write(pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", old))
    print(text)


def row(cells):
    return f"| {' | '.join(cells)} |"


def duration(seconds):
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


if __name__ == "__main__":
    main()
