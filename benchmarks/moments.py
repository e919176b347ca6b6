"""The losses of a preset whose optimizer keeps its moments in bfloat16, next to those in float32.

    python -m benchmarks.moments                    # bert_tiny, 400 steps
    python -m benchmarks.moments gpt2_tiny --steps 1000 --json figures.json

The same rows, masks and dropout, from the same start, on the corpus of `benchmarks.learning`; each run in a
process of its own, with one thread. Losses are those of the training, means between two lines of its log, and
bits per byte those of held-out rows at the end.
"""

import argparse
import json
import os
import pathlib

from benchmarks.learning import run_recipe
from benchmarks.learning_corpus import Corpus
from firth.recipes import load_recipe

DTYPES = ("float32", "bfloat16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", default=["bert_tiny"])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/learning"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    os.environ |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    corpus = Corpus(options.folder)
    results: dict[str, dict[str, dict]] = {}
    for preset in options.presets:
        prepared = corpus.prepare(load_recipe(preset))
        found = results.setdefault(preset, {})
        for dtype in DTYPES:
            found[dtype] = run_recipe(preset, options.steps, prepared, f"training.optimizer.moments={dtype}")
            if "error" in found[dtype]:
                raise SystemExit(f"{preset}, {dtype}: {found[dtype]['error']}")
        print(f"{preset}: step, loss with float32, with bfloat16")
        for step, loss in found["float32"]["losses"].items():
            print(f"{step:>8} {loss:.4f} {found['bfloat16']['losses'][step]:.4f}")
        print("held out, bits per byte:", *(f"{found[dtype]['bits_per_byte']:.4f}" for dtype in DTYPES))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
