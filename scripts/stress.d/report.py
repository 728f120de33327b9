"""Puts the results into the table of a page."""

import platform
import re
from datetime import date

BEGIN, END = "<!-- stress: begin -->", "<!-- stress: end -->"


def write(page, rows, asked):
    """Rows of a name, what happened on the mount, what happened on the disk, and the most memory in MiB."""
    passed = [name for name, mount, _, _ in rows if mount == "passes"]
    lines = [f"{len(passed)} pass: {', '.join(passed)}.", "", "| stressor | on the mount | on the disk |", "| --- | --- | --- |"]
    lines += [f"| {name} | {mount} | {disk} |" for name, mount, disk, _ in rows if mount != "passes"]
    most = max(rows, key=lambda row: row[3])
    lines += ["", f"The daemon took up to {most[3]} MiB (under {most[0]})."]
    lines += [f"`scripts/stress --seconds {asked.seconds}` on {date.today()}, Linux {platform.release()}."]
    with open(page) as file:
        old = file.read()
    text = "\n".join(lines)
    new, found = re.subn(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{text}\n{END}", old, flags=re.DOTALL)
    if not found:
        raise SystemExit(f"{page} has no place for the table")
    with open(page, "w") as file:
        file.write(new)
