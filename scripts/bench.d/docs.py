"""Puts a table between its two markers in docs/performance.md."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"


def put(section, text):
    page = PAGE.read_text()
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{PAGE.name} has no section {section}")
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{text}\n{end}", page))
