"""Adapts a model to a task with several seeds and rates: a process of `benchmarks.transfer`.

python -m benchmarks.transfer_worker runs JSON    # each is written when it is done; existing runs are skipped
python -m benchmarks.transfer_worker lead JSON    # how good the first three sentences are
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import json
import math
import pathlib
import shutil
import sys
import time
from typing import Any

import keras

from benchmarks.adapting import Adapting, records_of
from benchmarks.transfer_runs import Cell, Settings
from benchmarks.transfer_scores import scored
from benchmarks.transfer_vectors import read_vectors_instead
from benchmarks.workers.memory import peak_bytes
from firth import features as names
from firth.models import save_model
from firth.recipes.run.base import TOKENIZER_FOLDER


def run_cell(cell: Cell) -> None:
    """Makes the runs of a cell that are not there."""
    if cell.start.vectors:
        read_vectors_instead(pathlib.Path(cell.start.vectors))
    adapting = Adapting(cell.folder / "rows", cell.records, cell.held_out)
    cell.runs(lambda settings: _run(adapting, cell, settings))


def print_lead(cell: Cell) -> None:
    """Prints the first three sentences as a run, in JSON."""
    adapting = Adapting(cell.folder / "rows", cell.records, cell.held_out)
    recipe = adapting.recipe(cell.start.bundle, cell.data, cell.task, **cell.more, **cell.start.more)
    score = recipe.task.score_names[0]
    answers = [(each.id, each.reference, each.prediction) for each in adapting.lead(recipe).examples]
    print(json.dumps({"seed": 0, "score": score, "options": {}, **scored(score, {}, answers)}))


def _run(adapting: Adapting, cell: Cell, settings: Settings) -> dict[str, Any]:
    began = time.process_time()
    keras.backend.clear_session()
    recipe = adapting.recipe(
        cell.start.bundle, cell.data, cell.task, **cell.more, **settings.options, **cell.start.more
    )
    served = adapting.served(recipe)
    if cell.kept:
        shutil.rmtree(cell.kept, ignore_errors=True)
        tokenizer = pathlib.Path(recipe.base.bundle) / TOKENIZER_FOLDER
        save_model(served.model, served.recipe, tokenizer, cell.kept)
    rows = adapting.answers(served)
    records = records_of(recipe.task, rows)
    if records.broken:
        raise ValueError(f"{records.broken} rows have predictions that are not numbers")
    score = recipe.task.score_names[0]
    options = recipe.task.score_options(score)
    answers = [(each.id, each.reference, each.prediction) for each in records.examples]
    labels = list(getattr(recipe.task, "labels", ()))
    return {
        "score": score,
        "options": options,
        "labels": labels,
        "shares": _shares(rows, len(labels)),
        "steps": served.recipe.training.steps,
        "trained": sum(math.prod(weight.shape) for weight in served.model.trainable_weights),
        "examples_per_second": adapting.examples_per_second(served.recipe),
        "peak_megabytes": round(peak_bytes() / 2**20, 1),
        "processor_seconds": round(time.process_time() - began, 1),
        **scored(score, options, answers),
    }


def _shares(rows: list[dict[str, Any]], classes: int) -> dict[str, list[float]]:
    """Returns the shares of the classes of each record; empty where a record has none."""
    found = {}
    for row in rows:
        given = row[names.RECORD_PREDICTIONS]
        if given.ndim < 2 or given.shape[-1] != classes:
            return {}
        for place in (row[names.RECORD_WEIGHTS] > 0).nonzero()[0]:
            found[str(int(row[names.RECORD_KEYS][place]))] = [float(each) for each in given[place]]
    return found


if __name__ == "__main__":
    {"runs": run_cell, "lead": print_lead}[sys.argv[1]](Cell.from_json(json.loads(sys.argv[2])))
