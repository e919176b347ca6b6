"""Peak memory of training steps of some cases, measured in a process of its own.

    python -m tests.recipes.counting.held_tensors

Prints a line of JSON: bytes by case. TensorFlow runs one operation after another, as what is predicted has
it, and without oneDNN's operations, which it takes on some processors alone and of which a trace shows less.
"""

import json
import os
import subprocess
import sys

from benchmarks.workers.families import Size
from benchmarks.workers.prediction_work import Case

# Rows that weigh more than weights, or the other way round.
LONG, SHORT = Size(2, 32, 2, 128, 4), Size(2, 128, 2, 16, 2)
HALF = Size(2, 32, 2, 128, 4, "mixed_bfloat16")
AGAIN = {"rematerialisation": "blocks"}
BFLOAT16 = {"optimizer": {"kind": "adamw", "moments": "bfloat16"}}
CASES = [
    Case("bert", LONG, 300),
    Case("bert", LONG, 3000, AGAIN),
    Case("bert", LONG, 300, {"gradient_accumulation_steps": 2}),
    Case("gpt2", HALF, 300, AGAIN),
    Case("llama", LONG, 3000),
    Case("t5", SHORT, 3000, BFLOAT16),
    Case("t5", SHORT, 3000, {"optimizer": {"kind": "adafactor"}}),
    Case("t5", SHORT, 3000, {"optimizer": {"kind": "adagrad", "accumulator": "bfloat16"}}),
    Case("deberta_v3", LONG, 300),
    Case("xlnet", LONG, 300),
]
_SETTINGS = {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_NUM_INTEROP_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"}


def measured() -> dict[str, int]:
    """Returns the bytes of each case, without weights and moments."""
    command = [sys.executable, "-m", "tests.recipes.counting.held_tensors"]
    done = subprocess.run(
        command, env={**os.environ, **_SETTINGS}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, int] = json.loads(done.stdout)
    return found


def main() -> None:
    """Prints the bytes of all cases."""
    from benchmarks.workers.allocations import peak_of
    from benchmarks.workers.prediction_work import make_step

    found = {}
    for case in CASES:
        step = make_step(case.recipe, case.features())
        step()
        found[str(case)] = peak_of(step).held
    print(json.dumps(found))


if __name__ == "__main__":
    main()
