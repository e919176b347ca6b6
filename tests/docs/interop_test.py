"""Each cell of the page of other libraries names a test that is there."""

import ast
import itertools
import pathlib
import re

REPOSITORY = pathlib.Path(__file__).parents[2]
LINES = (REPOSITORY / "docs" / "interop.md").read_text(encoding="utf-8").splitlines()
REFUSED = "-"


def rows() -> list[list[str]]:
    """Returns the rows of the table of families, the first of the page."""
    first = next(number for number, line in enumerate(LINES) if line.startswith("|"))
    table = itertools.takewhile(lambda line: line.startswith("|"), LINES[first:])
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def numbered() -> dict[str, str]:
    return dict(re.fullmatch(r"(\d+)\. `(.+)`", line).groups() for line in LINES if re.match(r"\d+\. ", line))


def functions(path: pathlib.Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_every_cell_names_tests_or_refuses():
    head, _, *families = rows()
    cells = [cell for row in families for cell in row[1:]]
    assert len(families) > 10 and {len(row) for row in families} == {len(head)}
    used = {number for cell in cells if cell != REFUSED for number in cell.split(", ")}
    assert used == set(numbered())


def test_every_test_is_there_with_its_cases():
    for test in numbered().values():
        path, function, cases = re.fullmatch(r"([^:]+)(?:::(\w+))?(?:\[(.+)\])?", test).groups()
        assert (REPOSITORY / path).exists(), test
        assert not function or function in functions(REPOSITORY / path), test
        written = (REPOSITORY / path).read_text(encoding="utf-8")
        assert all(f'"{case}"' in written for case in (cases or "").split(", ") if case), test
