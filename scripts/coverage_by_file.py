"""Measures branch coverage of a run of tests, with a context for each file of tests.

    pytest -p scripts.coverage_by_file --coverage-data build/coverage/data
    python -m scripts.coverage_by_file build/coverage

Both need coverage.py. The second joins the data of all processes, writes `report.txt` and `lines.json`, and
prints the total.
"""

import json
import os
import pathlib
import sys

import coverage
import pytest


def pytest_addoption(parser):
    """Adds the option that names the data."""
    parser.addoption("--coverage-data", default=None, help="path of the data; each worker adds its name")


def pytest_configure(config):
    """Measures in the processes that run tests."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if config.getoption("--coverage-data") and (worker or not config.getoption("numprocesses", None)):
        path = f"{os.path.abspath(config.getoption('--coverage-data'))}.{worker or 'main'}"
        config.pluginmanager.register(ByFile(path), "coverage-by-file")


class ByFile:
    """Branch coverage of this process, by file of tests."""

    def __init__(self, path):
        source = [os.path.abspath("firth")]
        self._coverage = coverage.Coverage(data_file=path, branch=True, source=source, messages=False)
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Names the file that runs."""
        self._coverage.switch_context(item.nodeid.split("::")[0])
        yield

    def pytest_sessionfinish(self):
        """Writes the data."""
        self._coverage.stop()
        self._coverage.save()


def main(folder: str) -> None:
    """Joins the data, and writes the report and the files of tests that reach each line.

    Args:
        folder: Folder of the data.
    """
    place = pathlib.Path(folder)
    whole = coverage.Coverage(data_file=str(place / "whole"), branch=True, source=["firth"], messages=False)
    whole.combine([str(each) for each in place.glob("data.*")], keep=True)
    with (place / "report.txt").open("w") as file:
        total = whole.report(file=file, skip_covered=False, ignore_errors=True)
    data = whole.get_data()
    reached = {}
    for path in data.measured_files():
        by_line = {line: sorted(filter(None, files)) for line, files in data.contexts_by_lineno(path).items()}
        name = path[path.rindex("/firth/") + 1 :]
        # A line that only an import has run has no file.
        reached[name] = {line: files for line, files in by_line.items() if files}
    (place / "lines.json").write_text(json.dumps(reached))
    print(f"branches and lines covered: {total:.2f}%")


if __name__ == "__main__":
    main(sys.argv[1])
