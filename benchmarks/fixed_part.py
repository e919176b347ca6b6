"""Processor seconds of two small runs by component, child processes included: the demo, and a fine-tuning.

    python -m benchmarks.fixed_part                       # both; the base is the demo's model after 100 steps
    python -m benchmarks.fixed_part --steps 20 --only finetuning
    python -m benchmarks.fixed_part --profile build/fixed # cProfile's statistics of each run, in files

The fine-tuning is of `--records` records of SST-2 of `../shared/data`, or what FIRTH_SHARED_DATA names, one
epoch. Each run is a process of its own, which runs `firth` as the command does. A child counts when it has
ended. Of the Trainer, the steps after the first one, which compiles, are a row of their own.
"""

import argparse
import cProfile
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

DATA = pathlib.Path(
    os.environ.get("FIRTH_SHARED_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data")
)
TRAINER, STEPS = "Trainer", "Trainer, steps after the first"
STARTING = "imports and launching"


def processor_seconds() -> float:
    """Returns the processor seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Seconds:
    """Processor seconds of a run's components, by its events."""

    def __init__(self) -> None:
        self.components: dict[str, float] = {}
        self._begun = self._first_step = 0.0

    def take(self, event: dict[str, Any]) -> None:
        """Takes in an event of `firth.pipelines.events`."""
        now = processor_seconds()
        if event["kind"] == "training":
            self._first_step = self._first_step or now
            self.components[STEPS] = now - self._first_step
        elif event["kind"] == "component" and event["state"] == "running":
            self._begun = now
        elif event["kind"] == "component":
            self.components[event["name"]] = now - self._begun
            if event["name"] == TRAINER:
                self.components[TRAINER] -= self.components.get(STEPS, 0.0)


def work(arguments: list[str], found: str, profile: str) -> None:
    """Runs a command of `firth` in this process, and writes the seconds of its components."""
    from firth.pipelines import local

    seconds = Seconds()

    class Timings(local.Timings):
        """Timings that call `Seconds` too."""

        def record(self, event: dict[str, Any]) -> None:
            seconds.take(event)
            super().record(event)

    local.Timings = Timings
    from firth.cli.main import main as run

    sys.argv = ["firth", *arguments]
    profiler = cProfile.Profile() if profile else None
    if profiler:
        profiler.enable()
    try:
        run()
    finally:
        if profiler:
            profiler.disable()
            profiler.dump_stats(profile)
        pathlib.Path(found).write_text(json.dumps(seconds.components))


def measure(arguments: list[str], folder: pathlib.Path, profile: str = "") -> dict[str, float]:
    """Returns the processor seconds of a command by component, and of all else as `STARTING`."""
    found = folder / "seconds.json"
    command = [sys.executable, "-m", "benchmarks.fixed_part", "--work", str(found), profile, *arguments]
    before = processor_seconds()
    status = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
    whole = processor_seconds() - before
    # A model that is no better than a constant answer ends with 3, after all components.
    if status not in (0, 3):
        sys.exit(f"firth {' '.join(arguments)} ended with {status}")
    components: dict[str, float] = json.loads(found.read_text())
    return {STARTING: whole - sum(components.values()), **components, "the whole run": whole}


def first_records(folder: pathlib.Path, count: int) -> dict[str, str]:
    """Returns files of the first records of SST-2, to train and to evaluate on."""
    files = {}
    for name, rows in (("train", count), ("dev", count // 10)):
        lines = (DATA / "glue" / "SST-2" / f"{name}.tsv").read_text().splitlines(keepends=True)
        path = folder / f"{name}.tsv"
        path.write_text("".join(lines[: rows + 1]))
        files[name] = str(path)
    return files


def main() -> None:
    """Prints the seconds of both runs as JSON, and as tables on the error stream."""
    if sys.argv[1:2] == ["--work"]:
        found, profile, *arguments = sys.argv[2:]
        work(arguments, found, profile)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=100, help="steps of the demo")
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--only", choices=("demo", "finetuning"))
    parser.add_argument("--profile", metavar="FOLDER")
    parser.add_argument("--root", metavar="FOLDER", help="keep the runs there; a demo there is the base")
    options = parser.parse_args()
    profiles = options.profile and pathlib.Path(options.profile).resolve()
    if profiles:
        profiles.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        root = pathlib.Path(options.root or folder / "runs").resolve()
        files = first_records(folder, options.records)
        demo = ["run", "demo", "--root", str(root), "--set", f"training.steps={options.steps}"]
        columns = ["--text", "sentence", "--label", "label", "--task", "classification"]
        data = ["--train", files["train"], "--eval", files["dev"]]
        finetuning = ["finetune", "demo", *columns, *data, "--epochs", "1", "--root", str(root)]
        runs = {"demo": demo, "finetuning": [*finetuning, "--name", f"finetuned_{time.time_ns()}"]}
        made = {}
        for name, arguments in runs.items():
            if name == "demo" and options.only == "finetuning" and (root / "demo" / "run.json").exists():
                continue
            profile = str(profiles / f"{name}.prof") if profiles else ""
            made[name] = measure(arguments, folder, profile)
            rows = (f"  {seconds:6.2f}  {part}" for part, seconds in made[name].items())
            print(name, *rows, sep="\n", file=sys.stderr, flush=True)
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
