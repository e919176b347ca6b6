"""Cost of a kill: seconds of a run that is ended in the middle and started again, next to one in peace."""

import argparse
import pathlib
import signal
import subprocess
import time
from typing import Any

from benchmarks.learning_corpus import Corpus
from benchmarks.scale_worker import finish, make_recipe, start
from firth.recipes.run.recipe import Recipe
from firth.training.history import HISTORY_FILE, read_history

PEACE = "in peace"
ENDS = {PEACE: None, "SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM}
POLL_SECONDS = 0.05


def measure(options: argparse.Namespace, scratch: pathlib.Path) -> dict[str, Any]:
    """Runs in peace, with a kill and with a notice, prints a table and returns the figures."""
    every = max(options.steps // 4, 2)
    # Midway between two checkpoints, where half of what can be lost is lost.
    place = 2 * every + every // 2
    recipe = make_recipe(
        options.preset, options.steps, checkpoint_every_steps=every, steps_per_execution=max(every // 6, 1)
    )
    corpus, rows = Corpus(options.folder), {}
    corpus.prepare(recipe)
    print(f"{options.preset}, {options.steps} steps, a checkpoint every {every}, ended after step {place}\n")
    print("| end | seconds | lost | steps made again | last loss |\n|---|---|---|---|---|")
    for name, sent in ENDS.items():
        rows[name] = _run(recipe, corpus, scratch / name.replace(" ", "_"), sent, place)
        lost = rows[name]["seconds"] - rows[PEACE]["seconds"]
        again, loss = rows[name]["steps_again"], rows[name]["last_loss"]
        print(f"| {name} | {rows[name]['seconds']:.1f} | {lost:.1f} | {again} | {loss:.6f} |")
    return rows


def _run(
    recipe: Recipe, corpus: Corpus, folder: pathlib.Path, sent: signal.Signals | None, place: int
) -> dict[str, Any]:
    started, again = time.perf_counter(), 0
    process = start(recipe, corpus, folder)
    if sent is not None:
        _wait_for(folder / "run" / HISTORY_FILE, place, process)
        process.send_signal(sent)
        process.communicate()
        made = len(read_history(str(folder / "run")))
        again = made - _saved(folder)
        process = start(recipe, corpus, folder)
    finish(process)
    seconds = time.perf_counter() - started
    last = read_history(str(folder / "run"))[-1]
    return {"seconds": seconds, "steps_again": again, "last_loss": last["loss"]}


def _wait_for(history: pathlib.Path, step: int, process: subprocess.Popen) -> None:
    """Waits until the curve tells of `step`."""
    while process.poll() is None:
        lines = history.read_text().count("\n") if history.exists() else 0
        if lines >= step:
            return
        time.sleep(POLL_SECONDS)
    raise RuntimeError("the training ended before it was to be killed; give it more --steps")


def _saved(folder: pathlib.Path) -> int:
    """Returns the step of the newest whole checkpoint, which the next process resumes at."""
    found = (folder / "checkpoints").glob("*/step-*/progress.json")
    return max((int(path.parent.name.removeprefix("step-")) for path in found), default=0)
