"""Trains one recipe in a process of its own, which can be killed: a process of `benchmarks.scale`.

python -m benchmarks.scale_worker RECIPE.json PREPARED.json FOLDER
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import json
import pathlib
import subprocess
import sys

from benchmarks.learning_corpus import Corpus, Prepared
from firth.recipes import load_recipe
from firth.recipes.run.recipe import Recipe


def make_recipe(preset: str, steps: int, **training) -> Recipe:
    """Returns a preset that trains for so many steps, with a line of the curve for each of them."""
    settings = {
        "steps": steps,
        "optimizer.warmup_steps": max(steps // 10, 1),
        "log_every_steps": 1,
        "eval_every_steps": None,
        "checkpoint_every_steps": steps,
        **training,
    }
    return load_recipe(preset, [f"training.{key}={json.dumps(value)}" for key, value in settings.items()])


def start(recipe: Recipe, corpus: Corpus, folder: pathlib.Path) -> subprocess.Popen:
    """Starts a training whose run and checkpoints are kept in a folder; it resumes at the newest one."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "recipe.json", folder / "prepared.json"
    paths[0].write_text(recipe.to_json())
    paths[1].write_text(json.dumps(corpus.prepare(recipe)))
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scale_worker", *map(str, paths), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen) -> None:
    """Waits for a training.

    Raises:
        RuntimeError: if it fails; with the last line that it wrote.
    """
    _, written = process.communicate()
    if process.returncode:
        raise RuntimeError((written.strip().splitlines() or [str(process.returncode)])[-1])


def main() -> None:
    """Trains."""
    from firth.training import train

    recipe, prepared, folder = sys.argv[1:]
    found = Prepared(*json.loads(pathlib.Path(prepared).read_text()))
    recipe = Recipe.from_json(pathlib.Path(recipe).read_text())
    train(recipe, [found.train], found.tokenizer, f"{folder}/run", f"{folder}/checkpoints")


if __name__ == "__main__":
    main()
