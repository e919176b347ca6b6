"""Runs the tests of each mutant's folder until the first failure.

    python -m scripts.mutants.run build/mutants/mutants.json build/mutants/results.jsonl

A mutant is killed where a test of its folder fails. The tests nearest to its module run first. With
`--coverage` only those files of tests run that reach the changed line. Each mutant runs in a process that is
forked from one that has imported the libraries, in a copy of the checkout. Each result is appended as a line
of JSON, and a second start runs the mutants that have none.
"""

import argparse
import contextlib
import importlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIBRARIES = (
    *(
        "tensorflow",
        "tensorflow_text",
        "keras",
        "keras_hub",
        "apache_beam",
        "pytest",
        "hypothesis",
        "_pytest.doctest",
    ),
    *(
        "tfx.components",
        "tfx.orchestration.pipeline",
        "tfx.types",
        "tensorflow_model_analysis",
        "ml_metadata",
    ),
    *("tensorflow_data_validation", "pydantic", "safetensors.numpy", "tokenizers", "sklearn"),
)

# Statuses of the process that runs pytest: no test was collected, and pytest did not start.
_NO_TESTS, _NOT_RUN = 5, 70


def main() -> None:
    """Runs the mutants that have no result yet."""
    arguments = parsed()
    if arguments.summary:
        print("\n".join(summary(arguments.results)))
        return
    mutants = json.loads(arguments.mutants.read_text())
    done = {result["number"] for result in results_in(arguments.results)}
    reached = json.loads(arguments.coverage.read_text()) if arguments.coverage else None
    first, step = map(int, arguments.part.split("/"))
    for name in LIBRARIES:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="firth-mutants-") as folder:
        tree = copy_of(arguments.checkout, pathlib.Path(folder) / "main")
        for number in sorted(set(range(first, len(mutants), step)) - done):
            mutant = mutants[number]
            files = tests_of(tree, mutant, reached)
            started = time.monotonic()
            outcome, by = outcome_of(tree, mutant, files, arguments.seconds)
            result = {"number": number, "path": mutant["path"], "line": mutant["line"], "outcome": outcome}
            result |= {"seconds": round(time.monotonic() - started, 1), "files": len(files), "by": by}
            with arguments.results.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(outcome, mutant["path"], mutant["line"], by, flush=True)


def parsed() -> argparse.Namespace:
    """Returns the arguments of the command."""
    parser = argparse.ArgumentParser(description="Runs the tests of each mutant's folder until one fails.")
    parser.add_argument("mutants", type=pathlib.Path, help="file that sample.py has written")
    parser.add_argument("results", type=pathlib.Path, help="file of JSON lines to append to")
    parser.add_argument("--checkout", type=pathlib.Path, default=pathlib.Path.cwd())
    parser.add_argument("--coverage", type=pathlib.Path, help="lines.json of `make coverage`")
    parser.add_argument("--part", default="0/1", help="I/N: every Nth mutant from the Ith on")
    parser.add_argument("--seconds", type=int, default=900, help="a mutant that takes longer is killed")
    parser.add_argument("--summary", action="store_true", help="print the outcomes, and run nothing")
    return parser.parse_args()


def copy_of(checkout: pathlib.Path, place: pathlib.Path) -> pathlib.Path:
    """Copies the tracked files of a checkout, next to a link to its `../shared`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=checkout, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (checkout / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / name, place / name)
    shared = (checkout.parent / "shared").resolve()
    if shared.exists():
        (place.parent / "shared").symlink_to(shared)
    return place


def tests_of(tree: pathlib.Path, mutant: dict, reached: dict | None) -> list[str]:
    """Returns the files of tests and of doctests that may kill a mutant, nearest first."""
    path = pathlib.Path(mutant["path"])
    inner = path.relative_to("firth")
    folder = inner.parts[0] if len(inner.parts) > 1 else ""
    found = [each.relative_to(tree) for each in (tree / "tests" / folder).rglob("*_test.py")]
    if not folder:
        found = [each for each in found if len(each.parts) == 2]
    doctests = [each for each in [path] if ">>> " in (tree / each).read_text()]
    if reached is not None and (by_line := reached.get(str(path), {}).get(str(mutant["line"]))):
        found = [each for each in found if str(each) in by_line]

    def distance(test: pathlib.Path) -> tuple:
        of_module = f"{test.stem}_".startswith(f"{path.stem}_") and test.parent.name == path.parent.name
        pairs = zip(test.parts[1:-1], inner.parts[:-1])
        same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
        return not of_module, -same, len(test.parts), str(test)

    return [*map(str, doctests), *map(str, sorted(found, key=distance))]


def outcome_of(tree: pathlib.Path, mutant: dict, files: list[str], seconds: int) -> tuple[str, str]:
    """Returns whether the tests kill a mutant, and the line of pytest's that says by which."""
    path = tree / mutant["path"]
    original = path.read_text()
    log = tree / "mutant.log"
    path.write_text(mutant["source"])
    try:
        child = os.fork()
        if child == 0:
            run_tests(tree, files, log)
        status = waited_for(child, seconds)
    finally:
        path.write_text(original)
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    by = next((line for line in reversed(lines) if line.startswith(("FAILED", "ERROR"))), "")
    if status is None:
        return "killed", "out of time"
    if status == _NOT_RUN:
        raise RuntimeError("pytest did not start:\n" + "\n".join(lines[-20:]))
    outcome = "survived" if status in (0, _NO_TESTS) else "killed"
    return outcome, by or (lines[-1] if lines else f"status {status}")


def run_tests(tree: pathlib.Path, files: list[str], log: pathlib.Path) -> None:
    """Runs pytest in this process, which then ends."""
    status = _NOT_RUN
    try:
        os.setsid()
        os.chdir(tree)
        place = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(place, 1)
        os.dup2(place, 2)
        os.environ["PYTHONPATH"] = str(tree)
        sys.path[:] = [str(tree), *(each for each in sys.path if each)]
        import pytest

        quiet = ["-q", "--tb=line", "--durations=0", "-p", "no:cacheprovider", "-p", "no:xdist"]
        status = int(pytest.main([*quiet, "-x", "-m", "not repeated", *files])) if files else _NO_TESTS
        sys.stdout.flush()
    finally:
        os._exit(status)


def waited_for(child: int, seconds: int) -> int | None:
    """Returns the exit status of a child, or None where it ran out of time and was ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            end_group(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.2)
    end_group(child)
    os.waitpid(child, 0)
    return None


def end_group(child: int) -> None:
    """Ends the processes that a child has left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def results_in(path: pathlib.Path) -> list[dict]:
    """Returns the results in a file: an empty list without the file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary(path: pathlib.Path) -> list[str]:
    """Returns a line with the number of killed mutants, and one for each survivor."""
    results = sorted(results_in(path), key=lambda result: result["number"])
    alive = [result for result in results if result["outcome"] == "survived"]
    lines = [f"{each['number']:4d} survived  {each['path']}:{each['line']}" for each in alive]
    return [f"{len(results) - len(alive)} of {len(results)} mutants killed", *lines]


if __name__ == "__main__":
    main()
