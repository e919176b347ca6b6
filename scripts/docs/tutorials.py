"""Runs the tutorials of docs/tutorials, and writes them with their output, as pages and as notebooks.

    python -m scripts.docs.tutorials build/docs/tutorials

It needs the environment of firth, as the tutorials do. Pages are kept until their text or the sources change.
"""

import ast
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from scripts.docs.digest import digest_of, is_current

REPOSITORY = pathlib.Path(__file__).parents[2]
PAGES = sorted((REPOSITORY / "docs/tutorials").glob("*.md"))
_BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
# Drawings of a terminal: progress bars that are drawn anew, and colours.
_REDRAWN = re.compile(r"[^\n]*\r(?!\n)|\x1b\[[0-9;?]*[A-Za-z]")


class Block(NamedTuple):
    """A Python block of a page that has run.

    Attributes:
        code: The block.
        output: Text that it printed, and the value of its last line.
        figures: Its figures of matplotlib, as SVG.
    """

    code: str
    output: str
    figures: list[bytes]


def run_page(text: str, name: str) -> list[Block]:
    """Runs the Python blocks of a page in one namespace and in a temporary folder, and returns them.

    Args:
        text: Markdown of the page.
        name: Path of the page, for tracebacks.
    """
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "tutorial"}
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        return [
            _run_block(found[1], text[: found.start()].count("\n") + 1, name, names)
            for found in _BLOCK.finditer(text)
        ]


def page_with_output(text: str, blocks: list[Block], name: str) -> str:
    """Returns the Markdown of a page with the output below each block, and a link to its notebook."""
    left, drawn = iter(blocks), 0

    def shown(found: re.Match[str]) -> str:
        nonlocal drawn
        block, parts = next(left), [found[0]]
        if block.output:
            parts.append(f"``` {{.text .output}}\n{block.output}\n```\n")
        for _ in block.figures:
            drawn += 1
            parts.append(f"![Figure {drawn} of this page]({figure_name(name, drawn)})\n")
        return "\n".join(parts)

    title, _, rest = _BLOCK.sub(shown, text).partition("\n")
    return f"{title}\n\n[This page as a notebook](../notebooks/{name}.ipynb){{ .notebook download }}\n{rest}"


def figure_name(page: str, number: int) -> str:
    """Returns the name of a figure's file."""
    return f"{page}-{number}.svg"


def notebook(text: str, blocks: list[Block]) -> str:
    """Returns a page as a notebook of Jupyter, nbformat 4.5."""
    cells: list[dict[str, Any]] = []
    left = iter(blocks)
    # The parts at odd places are the code of the blocks.
    for place, part in enumerate(_BLOCK.split(text)):
        cell: dict[str, Any] = {"id": f"cell-{place}", "metadata": {}, "source": part.strip("\n")}
        if place % 2:
            block = next(left)
            outputs: list[dict[str, Any]] = []
            if block.output:
                outputs.append({"output_type": "stream", "name": "stdout", "text": f"{block.output}\n"})
            for figure in block.figures:
                data = {"image/svg+xml": figure.decode("utf-8")}
                outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
            cells.append({"cell_type": "code", "execution_count": None, "outputs": outputs, **cell})
        elif cell["source"]:
            cells.append({"cell_type": "markdown", **cell})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}, indent=1)


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    """Runs the block in a folder, with the tables of kinds as they were afterwards."""
    from firth.objectives import OBJECTIVES

    before, kinds = os.getcwd(), dict(OBJECTIVES)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        OBJECTIVES.clear()
        OBJECTIVES.update(kinds)


def _run_block(code: str, line: int, name: str, names: dict[str, Any]) -> Block:
    """Runs a block; a value on its last line is printed, as a notebook does."""
    from matplotlib import pyplot

    parsed = ast.parse(code, name)
    ast.increment_lineno(parsed, line)
    last = parsed.body.pop() if isinstance(parsed.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(parsed, name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            if value is not None and not pyplot.get_fignums():
                print(repr(value))
    figures = []
    for number in pyplot.get_fignums():
        drawn = io.BytesIO()
        pyplot.figure(number).savefig(drawn, format="svg", metadata={"Date": None})
        figures.append(drawn.getvalue())
    pyplot.close("all")
    return Block(code, _REDRAWN.sub("", printed.getvalue()).strip("\n"), figures)


def main() -> None:
    """Writes the pages, figures and notebooks to the folder that the command names."""
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for path in PAGES:
        name, text = path.stem, path.read_text(encoding="utf-8")
        kept, script = folder / f"{name}.digest", pathlib.Path(__file__)
        if is_current(kept, text, script):
            continue
        start = time.monotonic()
        blocks = run_page(text, str(path.relative_to(REPOSITORY)))
        figures = [figure for block in blocks for figure in block.figures]
        for old in folder.glob(f"{name}-*.svg"):
            old.unlink()
        for number, figure in enumerate(figures, 1):
            (folder / figure_name(name, number)).write_bytes(figure)
        (folder / f"{name}.md").write_text(page_with_output(text, blocks, name), encoding="utf-8")
        (folder / f"{name}.ipynb").write_text(notebook(text, blocks), encoding="utf-8")
        kept.write_text(digest_of(text, script))
        print(f"docs/tutorials/{path.name} ran in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
