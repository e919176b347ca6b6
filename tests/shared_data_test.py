import pathlib

import pytest

from tests.shared_data import marks_of_tests, missing_data, twin_problem

FILE = """
import pytest
def test_plain(): pass
@pytest.mark.parametrize("a", [1])
def test_table(a): pass
@pytest.mark.repeated
def test_repeated(): pass
@pytest.mark.needs_data("x", twin="test_plain")
def test_real(): pass
def helper(): pass
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x_test.py"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("twin, problem", [
    ("test_plain", None),
    ("test_table", None),
    ("test_repeated", "is marked repeated"),
    ("test_real", "is marked needs_data"),
    ("helper", "is not a test of"),
    ("tests/shared_data_test.py::test_twins", None),
    ("tests/shared_data_test.py::test_plain", "is not a test of"),
    ("tests/nowhere_test.py::test_plain", "is not a test of"),
])  # fmt: skip
def test_twins(file, twin, problem):
    found = twin_problem(file, pytest.mark.needs_data("x", twin=twin).mark)
    assert found is None if problem is None else problem in found


def test_a_test_without_a_twin_is_refused(file):
    assert "the twin ''" in twin_problem(file, pytest.mark.needs_data("x").mark)


def test_marks_of_a_whole_file_count(file):
    file.write_text('pytestmark = pytest.mark.skipif(True, reason="")\ndef test_plain(): pass\n')
    assert marks_of_tests(file) == {"test_plain": ["skipif"]}


def test_data_that_is_not_there_is_named(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("")
    mark = pytest.mark.needs_data("a", "b", variable="FIRTH_OTHER_DATA", twin="").mark
    assert "FIRTH_OTHER_DATA names the folder" in missing_data(mark)
    monkeypatch.setenv("FIRTH_OTHER_DATA", str(tmp_path))
    assert missing_data(mark).startswith(f"there is no {tmp_path / 'b'};")
    (tmp_path / "b").mkdir()
    assert missing_data(mark) is None


def test_no_test_looks_for_the_data_by_itself():
    tests = pathlib.Path(__file__).parent
    files = {path for path in tests.rglob("*.py") if "FIRTH_SHARED" + "_DATA" in path.read_text()}
    assert files == {tests / "shared_data.py"}
