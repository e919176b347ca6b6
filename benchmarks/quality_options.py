"""What each option of a recipe that is to train better is worth: `quality`'s recipe, and without one of them.

    python -m benchmarks.quality_options                            # causal and masked, three seeds
    python -m benchmarks.quality_options causal --steps 600 --seeds 1 --width 256

All trainings of a work have the same text, rows, steps and seeds; each has a schedule that ends with its last
step. Printed are the processor seconds of a training with one thread, median of the seeds, which count its
start; the held-out loss, median with the lowest and the highest; and how far it is above that of the whole
recipe on the same seed. `benchmarks.quality` compares all options together with a peer.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.learning_corpus import Corpus
from benchmarks.quality import GATED_WIDTH, OPTIMIZER, SIZE, recipe_of, run
from benchmarks.quality_blocks import Blocks

WHOLE = "the whole recipe"
Settings = dict[str, Any]


def adamw(rate: float) -> Callable[[int], Settings]:
    """Returns what puts AdamW of a rate in the place of Muon, with the same schedule."""
    return lambda steps: {
        "training.optimizer": {
            "kind": "adamw",
            "learning_rate": rate,
            "weight_decay": 0.01,
            "gradient_clip_norm": 1.0,
            "warmup_steps": max(steps // 20, 1),
            "schedule": {"kind": "warmup_stable_decay", "decay_fraction": 0.4, "shape": "one_minus_sqrt"},
        }
    }


def linear(steps: int) -> Settings:
    """Returns what lets Muon's rate fall on a line from the end of the warm-up to the last step."""
    optimizer = {**OPTIMIZER, "warmup_steps": max(steps // 20, 1), "schedule": {"kind": "linear"}}
    return {"training.optimizer": optimizer}


def always(**settings: Any) -> Callable[[int], Settings]:
    """Returns a function that gives settings, `__` for a point in a key, whatever the steps."""
    return lambda steps: {key.replace("__", "."): value for key, value in settings.items()}


OPTIMIZERS = {
    "AdamW, 2e-3, in the place of Muon": adamw(2e-3),
    "AdamW, 4e-3, in the place of Muon": adamw(4e-3),
    "linear decay in the place of WSD": linear,
}
VARIANTS: dict[str, dict[str, Callable[[int], Settings]]] = {
    "causal": {
        WHOLE: always(),
        **OPTIMIZERS,
        "without QK-norm": always(model__attention__query_key_norm=False),
        "with z-loss, 1e-4": always(objective__z_loss=1e-4),
    },
    "masked": {
        WHOLE: always(),
        **OPTIMIZERS,
        "15% masked in the place of 30%": always(objective__mask_rate=0.15),
        "30% to 15% masked": always(objective__mask_rate=0.15, objective__first_mask_rate=0.3),
    },
}


def of_width(width: int) -> Settings:
    """Returns the settings of a model narrower or wider than that of `quality`."""
    return {
        "model.width": width,
        "model.feed_forward.width": int(GATED_WIDTH * width) // 8 * 8,
        "model.attention.head_width": width // SIZE["heads"],
    }


def measure(work: str, options: argparse.Namespace, folder: pathlib.Path) -> dict[str, list[dict[str, Any]]]:
    """Trains a work in each way with each seed, prints a line each and returns the figures."""
    blocks = Blocks(Corpus(options.folder), options.folder)
    evaluated = recipe_of(work, 1, 0, ["objective.mask_rate=0.15"] if work == "masked" else [])
    tokenizer, rows = blocks.rows(evaluated)
    arrays = folder / f"{work}.npz"
    blocks.write_arrays(evaluated, arrays)
    found: dict[str, list[dict[str, Any]]] = {}
    for seed in range(options.seeds):
        for name, variant in VARIANTS[work].items():
            settings = {
                "training.precision": options.precision,
                **of_width(options.width),
                **variant(options.steps),
            }
            overrides = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
            given = {
                "recipe": recipe_of(work, options.steps, seed, overrides).to_json(),
                "rows": str(rows),
                "tokenizer": tokenizer,
                "work": work,
                "arrays": str(arrays),
                "threads": 1,
                "clock": "processor",
            }
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.workers.quality_firth"]
            done = run(command, given)
            found.setdefault(name, []).append(done)
            print(f"{work}, seed {seed}, {name}: {done['seconds']:.0f} s, {done['loss']:.4f}", flush=True)
    return found


def shown(work: str, found: dict[str, list[dict[str, Any]]]) -> str:
    """Returns the table of a work."""
    whole = [each["loss"] for each in found[WHOLE]]
    lines = [f"| {work} | processor s | held-out loss | above the whole recipe |", "|---|---|---|---|"]
    for name, runs in found.items():
        losses = [each["loss"] for each in runs]
        seconds = statistics.median(each["seconds"] for each in runs)
        above = [loss - other for loss, other in zip(losses, whole, strict=True)]
        more = f"{statistics.median(above):+.4f} ({min(above):+.4f} to {max(above):+.4f})"
        more = "" if name == WHOLE else more
        spread = f"{statistics.median(losses):.4f} ({min(losses):.4f}–{max(losses):.4f})"
        lines.append(f"| {name} | {seconds:.0f} | {spread} | {more} |")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(VARIANTS)}; both if none")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--precision", choices=["float32", "mixed_bfloat16"], default="float32")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/benchmarks/learning"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    if unknown := sorted(set(options.works) - set(VARIANTS)):
        parser.error(f"unknown work {unknown[0]!r}; there are {', '.join(VARIANTS)}")
    return options


def main() -> None:
    """Trains, and prints a table for each work."""
    options, figures = parse(), {}
    with tempfile.TemporaryDirectory() as folder:
        for work in options.works or VARIANTS:
            figures[work] = measure(work, options, pathlib.Path(folder))
            print(f"\n{shown(work, figures[work])}\n", flush=True)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
