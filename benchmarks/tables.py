"""Figures of earlier runs as Markdown.

python -m benchmarks.tables          # the names of all that are kept
python -m benchmarks.tables lstm     # texts and tables of one

Each file of `benchmarks/figures` has a `title` and `parts`. A part is a text, a `heading`, or a table
of `columns` and `rows`.
"""

import json
import pathlib
import sys
from typing import Any

FIGURES = pathlib.Path(__file__).parent / "figures"


def names() -> list[str]:
    """Returns the names of the figures, in order."""
    return sorted(path.stem for path in FIGURES.glob("*.json"))


def markdown(name: str) -> str:
    """Returns figures as a section of Markdown."""
    found = json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    return "\n\n".join([f"## {found['title']}", *map(_part, found["parts"])]) + "\n"


def _part(part: str | dict[str, Any]) -> str:
    if isinstance(part, str):
        return part
    if "heading" in part:
        return f"### {part['heading']}"
    rows = [part["columns"], ["---"] * len(part["columns"]), *part["rows"]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    """Prints figures, or the names of all."""
    if unknown := [each for each in sys.argv[1:] if each not in names()]:
        print(f"there are no figures {unknown[0]!r}, only {', '.join(names())}", file=sys.stderr)
        return 2
    print("\n".join(map(markdown, sys.argv[1:])) if sys.argv[1:] else "\n".join(names()), end="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
