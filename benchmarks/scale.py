"""Effects of more devices, more workers and a kill on a run, and a plan on paper for larger ones.

    python -m benchmarks.scale                          # all four parts, about a quarter of an hour
    python -m benchmarks.scale replicas kill --preset bert_tiny --steps 120
    python -m benchmarks.scale plan --megabytes 2.1 --utilisation 0.4

`replicas` trains a preset on 1, 2 and 4 logical CPUs: seconds a step, and how far the losses are from
those of one device. `kill` ends a training by SIGKILL and by SIGTERM between two checkpoints, starts it
again, and says how many seconds that cost next to a run in peace. `corpus` cleans the same documents
with 1 and 2 worker processes. `plan` is arithmetic: what the rates measured here, or given, come to for
a crawl of 100 TB, and what training takes on named accelerators.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks import scale_corpus, scale_kill, scale_plan, scale_replicas

PARTS: dict[str, Callable[[argparse.Namespace, pathlib.Path], dict[str, Any]]] = {
    "replicas": scale_replicas.measure,
    "kill": scale_kill.measure,
    "corpus": scale_corpus.measure,
    "plan": scale_plan.compute,
}


def parse() -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none")
    parser.add_argument("--preset", default="bert_tiny", help="what is trained")
    parser.add_argument("--steps", type=int, default=120, help="of each training")
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="processes that clean")
    parser.add_argument("--rounds", type=int, default=3, help="of cleaning; the median counts")
    parser.add_argument("--megabytes", type=float, help="a second and core, for the plan; else measured")
    parser.add_argument("--utilisation", type=float, default=0.4, help="of an accelerator's FLOP/s")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/learning"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; there are {', '.join(PARTS)}")
    least = 2 * scale_replicas.FIRST
    if "replicas" in (options.parts or PARTS) and options.steps < least:
        parser.error(f"--steps {options.steps}: replicas needs {least}, of which the first half is not timed")
    return options


def main() -> None:
    """Runs the parts in turn and prints their tables."""
    options, figures = parse(), {}
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory() as scratch:
            figures[part] = PARTS[part](options, pathlib.Path(scratch))
        if options.json:
            options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
