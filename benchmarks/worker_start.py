"""Gain of forking Beam's workers over starting an interpreter for each: seconds of small pipelines."""

import argparse
import subprocess
import sys
import time

import apache_beam as beam

from firth.corpus import fork_workers

OPTIONS = ["--direct_running_mode=multi_processing", "--direct_num_workers=2", "--sdk_container_image=none"]
SIDES = ("forked", "started")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pipelines", type=int, default=4, help="run one after the other, as a recipe's are")
    parser.add_argument("--side", choices=SIDES, help="measures one side; both in turn where it is not given")
    arguments = parser.parse_args()
    if arguments.side:
        print(f"{arguments.side}: {measure(arguments.side, arguments.pipelines):.1f} s", flush=True)
        return
    for side in SIDES:
        command = [sys.executable, "-m", "benchmarks.worker_start", f"--side={side}"]
        subprocess.run([*command, f"--pipelines={arguments.pipelines}"], check=True)


def measure(side: str, pipelines: int) -> float:
    """Returns the seconds of some pipelines, each with two workers that have next to nothing to do."""
    started = time.perf_counter()
    if side == "forked":
        fork_workers(OPTIONS)
    for _ in range(pipelines):
        with beam.Pipeline(argv=OPTIONS) as pipeline:
            _ = pipeline | beam.Create(range(10)) | beam.Reshuffle() | beam.Map(str)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
