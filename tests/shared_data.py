"""Real data next to the repository, which not every machine has, and the twins of the tests that need them.

    @pytest.mark.needs_data("gutenberg_books", twin="test_notices")

skips a test where a file or folder of the data is missing. Its twin tests the same on text that is made up or
committed, so it always runs. It is a test of the same file, or `tests/folder/x_test.py::test_name`.
"""

import ast
import functools
import os
import pathlib

REPOSITORY = pathlib.Path(__file__).parents[1]
VARIABLE = "FIRTH_SHARED_DATA"
SHARED_DATA = pathlib.Path(os.environ.get(VARIABLE, REPOSITORY.parent / "shared" / "data"))
# Marks of tests that `make test` leaves out, or that run on some machines alone.
SOMETIMES = ("needs_data", "repeated", "skip", "skipif")


def shared_data(name: str) -> pathlib.Path:
    """Returns the path of a file or folder of the data, for tests that are marked as those that need it."""
    return SHARED_DATA / name


def missing_data(mark) -> str | None:
    """Returns why a test with this mark is skipped, or None if its data are there.

    Args:
        mark: Mark `needs_data` with paths in the folder that `variable` names, that of real data by default.
    """
    variable = mark.kwargs.get("variable", VARIABLE)
    folder = SHARED_DATA if variable == VARIABLE else pathlib.Path(os.environ.get(variable, os.devnull))
    absent = [folder / name for name in mark.args or (".",) if not (folder / name).exists()]
    return f"there is no {absent[0]}; {variable} names the folder of the data" if absent else None


def twin_problem(file: pathlib.Path, mark) -> str | None:
    """Returns the fault of the twin that a mark in a file names, or None."""
    path, _, name = mark.kwargs.get("twin", "").rpartition("::")
    marks = marks_of_tests(REPOSITORY / path if path else file)
    if name not in marks:
        return f"the twin {name!r} of a test that needs data is not a test of {path or file}"
    found = [mark for mark in marks[name] if mark in SOMETIMES]
    return f"the twin {name!r} of a test that needs data is marked {found[0]}" if found else None


@functools.cache
def marks_of_tests(file: pathlib.Path) -> dict[str, list[str]]:
    """Returns the marks of each test function of a file, those of the whole file included."""
    if not file.is_file():
        return {}
    body = ast.parse(file.read_text(encoding="utf-8")).body
    assigned = [node for node in body if isinstance(node, ast.Assign)]
    whole = [node.value for node in assigned if ast.unparse(node.targets[0]) == "pytestmark"]
    tests = [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {test.name: [*map(_name, test.decorator_list), *map(_name, whole)] for test in tests}


def _name(mark: ast.expr) -> str:
    return ast.unparse(mark.func if isinstance(mark, ast.Call) else mark).removeprefix("pytest.mark.")
