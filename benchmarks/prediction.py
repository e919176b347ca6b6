"""Predictions of `firth show --accelerator cpu` for a step, next to the step measured on this CPU.

    python -m benchmarks.prediction                         # all cases
    python -m benchmarks.prediction bert gpt2 --json figures.json

Each case is the training step of a recipe in a process of its own, with one thread. `tensors` are the bytes
of all tensors at the peak of a step, weights and moments included, as TensorFlow's profiler sees them: that
is what is predicted. `process` is what the process has above itself before the model was built: next to the
tensors its graph, and what the allocator does not give back. Seconds are those of the processor, medians; the
rates of the CPU that the prediction goes by are measured in turn with the steps.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys

from benchmarks.workers.families import Size
from benchmarks.workers.prediction_work import Case, measure

SMALL, DEEP = Size(width=128, heads=2, batch=8), Size(layers=12, length=256, batch=16)
HALF = dataclasses.replace(SMALL, precision="mixed_bfloat16")
AGAIN = {"rematerialisation": "blocks"}
CASES = {
    "bert": Case("bert", SMALL),
    "bert, mixed_bfloat16": Case("bert", HALF),
    "bert, rematerialisation": Case("bert", SMALL, training=AGAIN),
    "bert, 4 parts": Case("bert", SMALL, training={"gradient_accumulation_steps": 4}),
    "bert, moments in bfloat16": Case(
        "bert", SMALL, training={"optimizer": {"kind": "adamw", "moments": "bfloat16"}}
    ),
    "bert, L4 W256, 30,522 pieces": Case("bert", Size(), 30_522),
    "bert, L12 W256": Case("bert", DEEP, 30_522),
    "bert, L12 W256, rematerialisation": Case("bert", DEEP, 30_522, AGAIN),
    "electra": Case("electra", SMALL),
    "deberta_v3": Case("deberta_v3", SMALL),
    "xlnet": Case("xlnet", SMALL),
    "gpt2": Case("gpt2", SMALL),
    "gpt2, mixed_bfloat16": Case("gpt2", HALF),
    "gpt2, rematerialisation": Case("gpt2", SMALL, training=AGAIN),
    "llama": Case("llama", SMALL),
    "t5": Case("t5", SMALL),
    "t5_1_1, rematerialisation": Case("t5_1_1", SMALL, training=AGAIN),
    "bart": Case("bart", SMALL),
    "elmo": Case("elmo", Size(width=64, length=32, batch=8), 9000),
}
THREADS = dict.fromkeys(("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"), "1")


def line(name: str, found: dict[str, float]) -> str:
    """Returns a row of the table."""
    predicted = found["predicted bytes"]
    parts = [f"predicted {predicted / 1e6:,.1f} MB"]
    for what in ("tensors", "process"):
        size = found[f"bytes of {what}"]
        parts.append(f"{what} {size / 1e6:,.1f} ({predicted / size:.2f})")
    parts.append(f"predicted {found['predicted seconds']:.3f} s")
    parts.append(f"took {found['seconds']:.3f} ({found['ratio of seconds']:.2f})")
    return f"{name:36} " + " | ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {'; '.join(CASES)}")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(CASES[options.cases[0]])))
        return
    results = {}
    for name in options.cases or CASES:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.prediction", "--one", name]
        done = subprocess.run(command, check=True, text=True, stdout=-1, env={**os.environ, **THREADS})
        results[name] = json.loads(done.stdout.splitlines()[-1])
        print(line(name, results[name]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
