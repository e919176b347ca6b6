"""Tables and the `main` of scripts that write a page of the site in firth's own environment."""

import pathlib
import sys


def table(style: str, heading: list[str], rows: list[list[str]]) -> str:
    r"""Returns a table as Markdown, in a box of its own for the site's style sheet.

    Args:
        style: Class of the box.
        heading: Cells of the first line.
        rows: Cells of the other lines; a `|` in a cell is escaped.

    Example:

    >>> table("keys", ["Key"], [["a|b"]]).splitlines()[2:5]
    ['| Key |', '| --- |', '| a\\|b |']
    """
    cells = [heading, ["---"] * len(heading), *rows]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    return "\n".join([f'<div class="{style}" markdown>', "", *lines, "", "</div>"])


def write_page(text: str) -> None:
    """Writes a page to the file that the command line names."""
    path = pathlib.Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
