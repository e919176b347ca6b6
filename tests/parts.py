"""Parts of a run of tests: one folder, or one of several parts of equal time. And files in another order.

    pytest --folder=firth/corpus        the tests and doctests of one folder
    pytest -m repeated --part 3/8       the third of eight parts; together they are the whole
    pytest --file-order 7               the files of tests in an order that the seed 7 gives

A file of tests is in one part. Its seconds are in `repeated_seconds.json`, which `make repeated-seconds`
measures; a file that is not there counts as the mean.
"""

import collections
import difflib
import hashlib
import json
import os
import pathlib
import statistics
import sys

import pytest

TESTS = pathlib.Path(__file__).parent
SECONDS = TESTS / "repeated_seconds.json"


def pytest_addoption(parser):
    """Adds the options."""
    parser.addoption("--folder", metavar="FOLDER", help="run the tests and doctests of one folder of firth/")
    parser.addoption("--part", metavar="K/N", help="run the Kth of N parts of about equal time, by files")
    parser.addoption("--file-order", metavar="SEED", help="run the files in an order that the seed gives")


def pytest_configure(config):
    """Refuses a folder without tests, and paths next to a folder, before workers start."""
    if (folder := config.getoption("--folder")) and not hasattr(config, "workerinput"):
        places_of(folder)
        if config.args_source is config.ArgsSource.ARGS:
            raise pytest.UsageError(
                f"--folder {folder}: it cannot be given together with paths, such as {config.args[0]}"
            )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Collects one folder.

    As an argument of pytest, its `conftest.py` would be imported, and TensorFlow with it, by the process that
    waits for the workers, before they start.
    """
    if folder := session.config.getoption("--folder"):
        session.config.args = places_of(folder)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out the files of other parts, and orders the files."""
    if part := config.getoption("--part"):
        number, count = parsed(part)
        own = parts(collections.Counter(map(file_of, items)), seconds(), count)[number - 1]
        config.hook.pytest_deselected(items=[item for item in items if file_of(item) not in own])
        items[:] = [item for item in items if file_of(item) in own]
    if seed := config.getoption("--file-order"):
        items.sort(key=lambda item: hashlib.sha256(f"{seed} {file_of(item)}".encode()).digest())


def places_of(folder: str) -> list[str]:
    """Returns the paths of a folder's tests and doctests: those of `firth/corpus` for `tests/corpus` too."""
    parts = pathlib.PurePath(os.path.relpath(TESTS.parent / folder, TESTS.parent)).parts
    name = "/".join(parts[parts[:1] in (("firth",), ("tests",)) :])
    places = [TESTS / name, TESTS.parent / "firth" / name]
    if ".." in parts or not places[0].is_dir():
        folders = {each.parent.relative_to(TESTS).as_posix() for each in TESTS.rglob("*_test.py")} - {"."}
        (nearest,) = difflib.get_close_matches(name, sorted(folders), n=1, cutoff=0.0)
        raise pytest.UsageError(
            f"--folder {folder}: tests/{name} does not exist; the nearest folder is tests/{nearest}"
        )
    return [str(place) for place in places if place.is_dir()]


def file_of(item) -> str:
    """Returns the file of a test, relative to the repository."""
    return item.nodeid.split("::")[0]


def parsed(part: str) -> tuple[int, int]:
    """Returns the number and the count of `3/8`."""
    number, _, count = part.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise pytest.UsageError(f"--part {part}: expected K/N with 1 <= K <= N, such as 3/8")
    return int(number), int(count)


def seconds() -> dict[str, float]:
    """Returns the measured seconds of each file."""
    return json.loads(SECONDS.read_text()) if SECONDS.exists() else {}


def parts(tests: dict[str, int], measured: dict[str, float], count: int) -> list[set[str]]:
    """Returns the files of each part: the longest first, each to the part that has the least so far.

    Args:
        tests: Files with tests to run.
        measured: Seconds of files.
        count: Number of parts.
    """
    mean = statistics.fmean(measured.values()) if measured else 1.0
    cost = {file: measured.get(file, mean) for file in tests}
    found: list[set[str]] = [set() for _ in range(count)]
    sums = [0.0] * count
    for file in sorted(cost, key=lambda file: (-cost[file], file)):
        least = sums.index(min(sums))
        found[least].add(file)
        sums[least] += cost[file]
    return found


def main(*durations: str) -> None:
    """Writes the seconds of each file of runs that kept their durations."""
    found: collections.Counter[str] = collections.Counter()
    for path in durations:
        for name, test in json.loads(pathlib.Path(path).read_text())["tests"].items():
            found[name.split("::")[0]] += sum(test.get(phase, 0) for phase in ("setup", "call", "teardown"))
    SECONDS.write_text(
        json.dumps({file: round(each, 1) for file, each in sorted(found.items())}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
