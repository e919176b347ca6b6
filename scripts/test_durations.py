"""Seconds of every test and fixture of a run, as JSON and by folder and file.

    make test PYTEST_ADDOPTS="--durations-json build/durations.json"
    python -m scripts.test_durations build/durations.json [FOLDER OR FILE]

Of each phase of a test (setup, call, teardown) it keeps the seconds on the clock. For setup and call it also
keeps the processor seconds of the process and of the children that it has waited for: other programs do not
change them.
"""

import collections
import json
import os
import pathlib
import resource
import sys
import time

import pytest

from tests.worker_memory import resident_bytes

PHASES = ("setup", "call", "teardown")


def pytest_addoption(parser):
    """Adds the option that names the file."""
    parser.addoption("--durations-json", default=None, help="file for the seconds of every test and fixture")


def pytest_configure(config):
    """Measures where the option is given."""
    if config.getoption("--durations-json"):
        config.pluginmanager.register(Durations(config), "durations")


class Durations:
    """Measures in the processes that run tests, and writes the file in the one that has their reports."""

    def __init__(self, config):
        self._path = pathlib.Path(config.getoption("--durations-json"))
        self._started = time.time()
        self._item = None
        self._tests = {}
        self._workers = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        """Measures the setup of a test."""
        self._item = item
        yield from self._measured("setup")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self):
        """Measures a test."""
        yield from self._measured("call")

    def _measured(self, phase):
        before = processor_seconds()
        yield
        self._item.user_properties.append((f"processor_{phase}", processor_seconds() - before))
        if sys.platform == "linux":
            self._item.user_properties.append(("resident_bytes", resident_bytes()))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        """Measures a fixture, with those that it asks for."""
        clock, processor = time.perf_counter(), processor_seconds()
        yield
        if self._item is not None:
            seconds = {"clock": time.perf_counter() - clock, "processor": processor_seconds() - processor}
            row = {"name": fixturedef.argname, "scope": str(fixturedef.scope), **seconds}
            self._item.user_properties.append(("fixture", row))

    def pytest_runtest_logreport(self, report):
        """Keeps what a phase took."""
        test = self._tests.setdefault(report.nodeid, {"outcome": report.outcome})
        test[report.when] = report.duration
        if report.outcome != "passed":
            test["outcome"] = report.outcome
        if report.when == "teardown":
            test["worker"] = getattr(report, "worker_id", "main")
            test["fixtures"] = [value for name, value in report.user_properties if name == "fixture"]
            test |= {name: value for name, value in report.user_properties if name != "fixture"}

    def pytest_sessionfinish(self, session):
        """Writes the file, or hands this worker's memory to the process that does."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["memory_bytes"] = memory
            return
        workers = self._workers or {"main": memory}
        found = {"seconds": time.time() - self._started, "memory_bytes": workers, "tests": self._tests}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(found, indent=1))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Keeps the largest memory of a worker that ends."""
        self._workers[node.gateway.id] = getattr(node, "workeroutput", {}).get("memory_bytes", 0)


def processor_seconds() -> float:
    """Returns the processor seconds of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def summary(found: dict, below: str = "") -> list[str]:
    """Returns lines with the processor seconds, clock seconds and tests of each folder, file or test.

    Args:
        found: Content of the file.
        below: A folder, whose files are listed, or a file, whose tests are; by default all folders.
    """
    rows = collections.defaultdict(lambda: [0.0, 0.0, 0])
    for name, test in found["tests"].items():
        if name.startswith(below):
            file = name.split("::")[0]
            key = name if below.endswith(".py") else file if below else "/".join(file.split("/")[:2])
            row = rows[key]
            row[0] += test.get("processor_setup", 0) + test.get("processor_call", 0)
            row[1] += sum(test.get(phase, 0) for phase in PHASES)
            row[2] += 1
    lines = [f"{'processor':>9} {'clock':>7} {'tests':>6}"]
    for key, (processor, clock, count) in sorted(rows.items(), key=lambda item: -item[1][0]):
        lines.append(f"{processor:9.1f} {clock:7.1f} {count:6d}  {key}")
    memory = ", ".join(f"{name} {size / 2**30:.1f} GiB" for name, size in found["memory_bytes"].items())
    return [*lines, f"{found['seconds']:.0f} s on the clock; largest memory of a process: {memory}"]


if __name__ == "__main__":
    print("\n".join(summary(json.loads(pathlib.Path(sys.argv[1]).read_text()), *sys.argv[2:3])))
