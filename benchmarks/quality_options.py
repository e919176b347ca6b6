"""Gain of each option of `quality`'s recipe: the recipe with and without it.

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
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.quality import SIZE, Sides, of_width, optimizer_of

WHOLE = "the whole recipe"
Settings = dict[str, Any]


def optimizer(**changes: Any) -> Callable[[int], Settings]:
    """Returns a function that changes some values of the optimizer."""
    return lambda steps: {"training.optimizer": optimizer_of(steps, **changes)}


def always(**settings: Any) -> Callable[[int], Settings]:
    """Returns a function that gives settings, `__` for a point in a key, whatever the steps."""
    return lambda steps: {key.replace("__", "."): value for key, value in settings.items()}


OPTIMIZERS = {
    "AdamW, 1e-3, in the place of Muon": optimizer(kind="adamw", learning_rate=1e-3),
    "AdamW, 2e-3, in the place of Muon": optimizer(kind="adamw", learning_rate=2e-3),
    "AdamW, 4e-3, in the place of Muon": optimizer(kind="adamw", learning_rate=4e-3),
    "linear decay in the place of WSD": optimizer(schedule={"kind": "linear"}),
}
Z_LOSS = {"with z-loss, 1e-4": always(objective__z_loss=1e-4)}
VARIANTS: dict[str, dict[str, Callable[[int], Settings]]] = {
    "causal": {
        WHOLE: always(),
        **OPTIMIZERS,
        "without QK-norm": always(model__attention__query_key_norm=False),
        **Z_LOSS,
    },
    "masked": {
        WHOLE: always(),
        "AdamW, 5e-4, in the place of Muon": optimizer(kind="adamw", learning_rate=5e-4),
        **OPTIMIZERS,
        "with QK-norm": always(model__attention__query_key_norm=True),
        **Z_LOSS,
        "15% masked in the place of 30%": always(objective__mask_rate=0.15),
        "30% to 15% masked": always(objective__mask_rate=0.15, objective__first_mask_rate=0.3),
    },
}


def measure(work: str, options: argparse.Namespace, folder: str) -> dict[str, list[dict[str, Any]]]:
    """Trains a work in each way with each seed, prints a line each and returns the figures."""
    sides = Sides(work, options, folder)
    found: dict[str, list[dict[str, Any]]] = {}
    for seed in range(options.seeds):
        for name, variant in VARIANTS[work].items():
            settings = {
                **of_width(options.width),
                "model.attention.head_width": options.width // SIZE["heads"],
                "training.precision": options.precision,
                **variant(options.steps),
            }
            overrides = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
            done = sides.firth(options.steps, seed, overrides)
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
    parser.set_defaults(threads=1, clock="processor")
    options = parser.parse_args()
    if unknown := sorted(set(options.works) - set(VARIANTS)):
        parser.error(f"unknown work {unknown[0]!r}; there are {', '.join(VARIANTS)}")
    return options


def main() -> None:
    """Trains, and prints a table for each work."""
    options, figures = parse(), {}
    with tempfile.TemporaryDirectory() as folder:
        for work in options.works or VARIANTS:
            figures[work] = measure(work, options, folder)
            print(f"\n{shown(work, figures[work])}\n", flush=True)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
