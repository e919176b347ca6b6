r"""Seconds until the held-out loss that a plain Hugging Face loop reaches in ten minutes.

    python -m benchmarks.quality --torch-python PYTHON                  # causal and masked, three seeds
    python -m benchmarks.quality causal --seconds 120 --seeds 1 --json figures.json
    python -m benchmarks.quality --threads 1 --clock processor   # on a machine with other work

Both sides train a model of the same layers and width on the same joined blocks of the same text, from
the same tokenizer, with the same threads. The peer is transformers' BERT or GPT-2 with AdamW, warm-up
and linear decay to the end of its time, at the best of its --rates (tried once, on the first seed).
firth trains for a share of that time, the smallest first, each run with its whole schedule, until one is
at least as good. A run's seconds count its start and its compiling, not its last evaluation. `share` is
what counts: at most a third is the goal. The number of parameters is printed, because the architectures
differ where firth's recipe says so.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.learning_corpus import Corpus
from benchmarks.quality_blocks import Blocks
from benchmarks.workers.clocks import CLOCKS
from firth.recipes import load_recipe
from firth.recipes.run.recipe import Recipe

SIZE = {"layers": 4, "width": 256, "heads": 4, "length": 128, "batch": 32, "precision": "float32"}
VOCABULARY = 8192
PRESETS = {"causal": "qwen_3_0_6b", "masked": "modernbert_base"}
# A share of the width, so that a gated layer has as many weights as a plain one of four times the width.
GATED_WIDTH = 8 / 3
CALIBRATION_STEPS = 12


def of_width(width: int) -> dict[str, int]:
    """Returns the settings of a model of a width."""
    return {"model.width": width, "model.feed_forward.width": int(GATED_WIDTH * width) // 8 * 8}


OURS = {
    "tokenizer": {"kind": "wordpiece", "vocabulary_size": VOCABULARY},
    "sequences": {"length": SIZE["length"]},
    "model.layers": SIZE["layers"],
    **of_width(SIZE["width"]),
    "training.batch_size": 16,
    "training.precision": "mixed_bfloat16",
    "training.eval_every_steps": None,
}
MORE = {
    "causal": {
        "model.attention": {"heads": 4, "key_value_heads": 4, "head_width": 64, "query_key_norm": True}
    },
    "masked": {
        "model.attention": {"heads": 4, "dropout": 0.0},
        "model.local_attention": None,
        "model.positions": {"kind": "rotary", "base": 10_000.0, "local_base": None},
        "objective.max_predictions": 39,
    },
}
OPTIMIZER = {
    "kind": "muon",
    "learning_rate": 5e-3,
    "gradient_clip_norm": 1.0,
    "weight_decay": 0.01,
    "schedule": {"kind": "warmup_stable_decay", "decay_fraction": 0.4, "shape": "one_minus_sqrt"},
}


def optimizer_of(steps: int, **changes: Any) -> dict[str, Any]:
    """Returns firth's optimizer with some values changed, and a schedule that ends after so many steps."""
    return {**OPTIMIZER, "warmup_steps": max(steps // 20, 1), **changes}


def recipe_of(work: str, steps: int, seed: int, settings: list[str]) -> Recipe:
    """Returns firth's recipe of a work, with a schedule that ends after so many steps."""
    overrides = {
        **OURS,
        **MORE[work],
        "seed": seed,
        "training.optimizer": optimizer_of(steps),
        "training.steps": steps,
        "training.checkpoint_every_steps": steps,
    }
    made = [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
    return load_recipe(PRESETS[work], [*made, *settings])


def run(command: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Runs a worker and returns its output.

    Raises:
        RuntimeError: if it fails; its standard error is above.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(settings, file)
        file.flush()
        done = subprocess.run([*command, file.name], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


class Sides:
    """The two trainings of one work.

    Args:
        work: `causal` or `masked`.
        options: Options of the command.
        folder: Folder for the arrays that both read.
    """

    def __init__(self, work: str, options: argparse.Namespace, folder: str):
        self._work, self._options = work, options
        blocks = Blocks(Corpus(options.folder), options.folder)
        recipe = recipe_of(work, 1, 0, ["objective.mask_rate=0.15"] if work == "masked" else [])
        self._tokenizer, self._rows = blocks.rows(recipe)
        self._arrays = f"{folder}/{work}.npz"
        blocks.write_arrays(recipe, pathlib.Path(self._arrays))

    def peer(self, steps: int, seed: int, rate: float) -> dict[str, Any]:
        """Trains transformers' model."""
        command = [self._options.torch_python, "-m", "benchmarks.workers.quality_transformers"]
        given = {"rate": rate, "size": SIZE, "vocabulary": VOCABULARY, "batch": SIZE["batch"], "dropout": 0.0}
        given |= {"steps": steps, "bfloat16": self._options.bfloat16}
        return run(command, self._common(seed) | given)

    def firth(self, steps: int, seed: int, settings: list[str]) -> dict[str, Any]:
        """Trains firth's model."""
        recipe = recipe_of(self._work, steps, seed, settings)
        given = {"recipe": recipe.to_json(), "rows": str(self._rows), "tokenizer": self._tokenizer}
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.workers.quality_firth"]
        return run(command, {**self._common(seed), **given})

    def _common(self, seed: int) -> dict[str, Any]:
        return {
            "work": self._work,
            "arrays": self._arrays,
            "seed": seed,
            "threads": self._options.threads,
            "clock": self._options.clock,
        }


def steps_within(seconds: float, train, *arguments) -> int:
    """Returns how many steps a training makes in so many seconds, from two short ones."""
    few, many = (train(CALIBRATION_STEPS * times, *arguments)["seconds"] for times in (1, 4))
    each = max((many - few) / (3 * CALIBRATION_STEPS), 1e-6)
    return max(int((seconds - few) / each) + CALIBRATION_STEPS, CALIBRATION_STEPS)


def compare(work: str, options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Trains both sides with each seed, prints a line each and returns the figures."""
    sides = Sides(work, options, folder)
    of_peer = steps_within(options.seconds, sides.peer, 0, options.rates[0])
    tried = {rate: sides.peer(of_peer, 0, rate) for rate in options.rates}
    rate = min(tried, key=lambda each: tried[each]["loss"])
    of_firth = steps_within(options.seconds, sides.firth, 0, options.set)
    seeds = []
    for seed in range(options.seeds):
        peer = tried[rate] if seed == 0 else sides.peer(of_peer, seed, rate)
        print(f"{work}, seed {seed}: transformers {peer['seconds']:.0f} s, {peer['loss']:.4f}", flush=True)
        found = []
        for share in sorted(options.shares):
            ours = sides.firth(max(int(share * of_firth), CALIBRATION_STEPS), seed, options.set)
            found.append({**ours, "share": ours["seconds"] / peer["seconds"]})
            print(
                f"  firth {ours['seconds']:.0f} s ({found[-1]['share']:.2f}), {ours['loss']:.4f}", flush=True
            )
            if ours["loss"] <= peer["loss"]:
                break
        seeds.append({"peer": peer, "firth": found, "reached": found[-1]["loss"] <= peer["loss"]})
    return {"rate": rate, "seeds": seeds}


def parse() -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(PRESETS)}; both if none")
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"), metavar="PYTHON")
    parser.add_argument("--seconds", type=float, default=600.0, help="of the peer's training")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.2, 0.33, 0.5, 0.7, 1.0], help="of them")
    parser.add_argument(
        "--rates", type=float, nargs="+", default=[5e-4, 1e-3, 2e-3], help="the peer's, tried"
    )
    parser.add_argument("--bfloat16", action="store_true", help="lets the peer's matmuls run in bfloat16")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="seconds that pass, or of processors")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of firth's recipe")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/learning"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    if unknown := sorted(set(options.works) - set(PRESETS)):
        parser.error(f"unknown work {unknown[0]!r}; there are {', '.join(PRESETS)}")
    if not options.torch_python:
        parser.error("name an interpreter that has torch and transformers: --torch-python PYTHON")
    return options


def main() -> None:
    """Compares, and prints a table."""
    options, figures = parse(), {}
    with tempfile.TemporaryDirectory() as folder:
        for work in options.works or PRESETS:
            figures[work] = compare(work, options, folder)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1))
    print("\n| | transformers: s | loss | parameters | firth: s | loss | parameters | share of its time |")
    print("|---|---|---|---|---|---|---|---|")
    for work, found in figures.items():
        pairs = [(seed["peer"], seed["firth"][-1]) for seed in found["seeds"]]
        cells = [
            f"{statistics.median(pair[side]['seconds'] for pair in pairs):.0f} | "
            f"{statistics.median(pair[side]['loss'] for pair in pairs):.4f} | "
            f"{pairs[0][side]['parameters']:,}"
            for side in (0, 1)
        ]
        share = statistics.median(ours["share"] for _, ours in pairs)
        missed = "" if all(seed["reached"] for seed in found["seeds"]) else ", NOT REACHED by each seed"
        print(f"| {work} | {cells[0]} | {cells[1]} | {share:.2f}{missed} |")


if __name__ == "__main__":
    main()
