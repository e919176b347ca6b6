"""Parts of a run of tests."""

import pytest

from tests.parts import TESTS, parsed, parts, places_of


def test_parts_are_the_whole_and_of_about_equal_time():
    files = {f"{number}_test.py": 1 for number in range(40)}
    measured = {file: float(number % 7 + 1) for number, file in enumerate(files)}
    found = parts(files, measured, 8)
    assert set().union(*found) == set(files) and sum(map(len, found)) == len(files)
    sums = [sum(measured[file] for file in each) for each in found]
    assert max(sums) - min(sums) <= 2
    assert parts(files, {}, 1) == [set(files)]
    # A file that was not measured counts as the mean: 8 of 10 seconds.
    assert parts({"a": 1, "b": 1, "new": 1}, {"a": 10.0, "b": 6.0}, 2) == [{"a"}, {"b", "new"}]


@pytest.mark.parametrize("part", ["0/8", "9/8", "3", "a/b"])
def test_a_part_that_there_is_not_is_refused(part):
    with pytest.raises(pytest.UsageError, match=part):
        parsed(part)


@pytest.mark.parametrize(
    "folder", ["firth/corpus/dedup", "./tests/corpus/dedup/", "corpus/dedup", str(TESTS / "corpus/dedup")]
)
def test_a_folder_is_its_tests_and_doctests(folder):
    assert places_of(folder) == [str(TESTS / "corpus/dedup"), str(TESTS.parent / "firth/corpus/dedup")]
    # One without doctests of its own.
    assert places_of("tests/docs") == [str(TESTS / "docs")]


@pytest.mark.parametrize(
    ("folder", "nearest"), [("firth/srving", "tests/serving"), ("/corpus", "tests/corpus")]
)
def test_a_misspelt_folder_is_refused_with_the_nearest(folder, nearest):
    with pytest.raises(pytest.UsageError, match=rf"{folder}: .*{nearest}$"):
        places_of(folder)


def test_files_of_a_folder(listed, tmp_path, monkeypatch):
    for place in ("tests/a", "tests/b", "firth/a"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / f"{place.replace('/', '_')}_test.py").write_text("def test_1(): ...\n")
    monkeypatch.setattr("tests.parts.TESTS", tmp_path / "tests")
    monkeypatch.chdir(tmp_path)
    assert listed("--folder=firth/a", places=()) == [
        f"{place}/{place.replace('/', '_')}_test.py::test_1" for place in ("tests/a", "firth/a")
    ]
    assert listed("--folder=a") == listed("--folder=c", places=()) == []


def test_files_of_other_parts_and_orders(listed):
    """The parts of a run are disjoint, whole, and the order of files follows from the seed."""
    whole = listed()
    found = [listed("--part", f"{number}/2") for number in (1, 2)]
    assert sorted(found[0] + found[1]) == sorted(whole) and all(found)
    orders = {tuple(listed("--file-order", str(seed))) for seed in (1, 2)}
    assert len(orders | {tuple(whole)}) > 1
    assert {tuple(sorted(each)) for each in orders} == {tuple(sorted(whole))}


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Returns a function that lists the tests which pytest, with the plugin, collects of three files."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in "abc":
        (tmp_path / f"{name}_test.py").write_text("def test_1(): ...\n\n\ndef test_2(): ...\n")

    def collected(*options, places=("a_test.py", "b_test.py", "c_test.py")):
        names = []

        class Names:
            @staticmethod
            def pytest_collection_finish(session):
                names.extend(item.nodeid for item in session.items)

        # The plugin of exceptions that nobody raises collects garbage five times when it ends.
        plugins = ["-p", "tests.parts", "-p", "no:cacheprovider", "-p", "no:unraisableexception"]
        options = [*plugins, *options]
        roots = ["-c", "/dev/null", f"--rootdir={tmp_path}", f"--confcutdir={tmp_path}"]
        pytest.main(
            ["--collect-only", "-qq", *options, *roots, *(str(tmp_path / each) for each in places)],
            plugins=[Names()],
        )
        return names

    return collected
