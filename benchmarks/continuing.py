"""A run that continues from a published model, next to the same architecture from nothing, at equal steps.

    python -m benchmarks.continuing firth-runs/minilm/bundle
    python -m benchmarks.continuing firth-runs/minilm/bundle --text 'notes/*.txt' --json curves.json

Both train with the bundle's tokenizer on the same rows in the same order; only the weights at the start
differ. Each has a learning rate of its own, since what is trained already moves less. Without --text, the
text is the docstrings of this installation. Printed are the losses on held-out rows, in nats.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import tempfile

from firth.models import build_model, save_model
from firth.models.bundle import read_recipe
from firth.pipelines import local
from firth.recipes import load_recipe
from firth.training import read_history

DOCSTRINGS = {
    "kind": "docstrings",
    "standard_library": True,
    "packages": ["apache_beam", "keras", "matplotlib", "numpy", "pandas"],
}
POINTS = 12


def write_untrained(bundle: str, folder: str) -> str:
    """Writes a bundle of the same model with weights drawn by its seed, and returns its folder."""
    recipe = read_recipe(bundle)
    save_model(build_model(recipe), recipe, os.path.join(bundle, "tokenizer"), folder)
    return folder


def curve(bundle: str, rate: float, options: argparse.Namespace, root: str) -> dict[int, float]:
    """Returns the held-out loss by step of a run that starts from a bundle."""
    source = {"kind": "text", "paths": [options.text]} if options.text else DOCSTRINGS
    steps = options.steps
    training = {
        "steps": steps,
        "batch_size": options.batch_size,
        "optimizer": {"learning_rate": rate, "warmup_steps": steps // 10},
        "checkpoint_every_steps": steps,
        "eval_every_steps": max(steps // POINTS, 1),
        "eval_rows": 128,
    }
    overrides = {
        "base": bundle,
        "name": "continuing",
        "sources": [source],
        "sequences.length": options.length,
        "training": training,
        "evaluation.thresholds": [],
    }
    recipe = load_recipe(None, [f"{key}={json.dumps(value)}" for key, value in overrides.items()])
    result = local.run(recipe, root)
    lines = read_history(str(result.outputs["Trainer"]["model_run"]))
    return {line["step"]: line["held_out_loss"] for line in lines if "held_out_loss" in line}


def main() -> None:
    """Trains both and prints their curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", help="folder of the bundle to go on from")
    parser.add_argument("--text", help="pattern of text files")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--length", type=int, default=64, help="tokens of a row")
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate of the run from the bundle")
    parser.add_argument("--rate-of-nothing", type=float, default=5e-4, help="that of the run from nothing")
    parser.add_argument("--root", type=pathlib.Path, help="folder to keep the runs in")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the curves")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = str(options.root or scratch)
        bundle = os.path.abspath(options.bundle)
        curves = {"base": curve(bundle, options.rate, options, root)}
        untrained = write_untrained(bundle, os.path.join(scratch, "untrained"))
        curves["nothing"] = curve(untrained, options.rate_of_nothing, options, root)
    print("| step | from the base | from nothing |\n|---|---|---|")
    for step, loss in curves["base"].items():
        print(f"| {step} | {loss:.2f} | {curves['nothing'][step]:.2f} |")
    if options.json:
        options.json.write_text(json.dumps(curves, indent=1))


if __name__ == "__main__":
    main()
