"""A model adapted to a task in this process, without a pipeline: rows, training, scores."""

import hashlib
import json
import os
import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from firth import features as names
from firth.corpus.io.record_files import write_records
from firth.evaluation.record_scores import Records, record_scores
from firth.pipelines.labels import with_labels
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.serving.evaluate import evaluator
from firth.serving.served import Served
from firth.tasks import TASKS
from firth.tasks.labelled_data import read_labelled_data
from firth.tasks.labelled_examples import to_example
from firth.tasks.task_rows import make_task_rows
from firth.tokenizers import load_tokenizer
from firth.training.pretraining import open_rows, train
from firth.training.rows import count_documents

SPLITS = ("train", "eval")


class Adapting:
    """A folder with the rows of tasks, which runs with other seeds use again.

    Args:
        folder: Folder, made if it is not there.
        records: Most records to train on; the rest of a large data set is left out, by a hash of the ids.
    """

    def __init__(self, folder: pathlib.Path, records: int):
        self._folder, self._records = folder, records

    def recipe(
        self, bundle: str, data: Mapping[str, Any], task: Mapping[str, Any], **more: Any
    ) -> AdaptingRecipe:
        """Returns the recipe that adapts a bundle to a task."""
        said = {"base": bundle, "data": data, "task": task, "evaluation.thresholds": [], **more}
        options = [f"{key}={json.dumps(value)}" for key, value in said.items()]
        return with_labels(load_adapting_recipe(None, options))

    def scores(self, recipe: AdaptingRecipe) -> dict[str, float]:
        """Returns the scores of the held-out records after training, with their intervals."""
        rows = self._rows(recipe)
        run = self._folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        patterns = {split: [f"{rows}/Split-{split}/*"] for split in SPLITS}
        opened = open_rows(recipe, patterns["train"], str(run))
        scheduled = recipe.scheduled(len(opened), count_documents(opened))
        tokenizer = os.path.join(recipe.base.bundle, "tokenizer")
        model = train(scheduled, patterns["train"], tokenizer, str(run), str(run))
        served = Served(model, load_tokenizer(tokenizer), scheduled)
        return record_scores(recipe.task, _records(served, patterns["eval"][0]))

    def _rows(self, recipe: AdaptingRecipe) -> pathlib.Path:
        parts = (recipe.data, recipe.task, recipe.sequences, recipe.base.digest, self._records)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        folder = self._folder / f"rows-{key}"
        if not (folder / "report.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            self._make_rows(recipe, folder)
        return folder

    def _make_rows(self, recipe: AdaptingRecipe, folder: pathlib.Path) -> None:
        found = read_labelled_data(recipe.data, recipe.task)
        for name, split in found.splits.items():
            records = sorted(split.records, key=lambda each: hashlib.sha256(each.id.encode()).digest())
            kept = records[: self._records] if name == "train" else records
            write_records(f"{folder}/records/{name}", 0, 1, (to_example(each, found.source) for each in kept))
        make_task_rows(
            {name: f"{folder}/records/{name}/*" for name in SPLITS},
            recipe.task,
            recipe.sequences,
            load_tokenizer(os.path.join(recipe.base.bundle, "tokenizer")),
            {name: f"{folder}/Split-{name}" for name in SPLITS},
            str(folder),
        )


def _records(served: Served, pattern: str) -> Records:
    """Returns the held-out records with the answers to them."""
    task = served.recipe.task
    evaluate = tf.function(evaluator(served, None))
    files = sorted(tf.io.gfile.glob(pattern))
    rows = tf.data.TFRecordDataset(files, "GZIP").batch(served.recipe.evaluation.batch_size)
    found = Records()
    for batch in rows:
        outputs = {name: value.numpy() for name, value in evaluate(batch).items()}
        for row in range(len(outputs[names.RECORD_WEIGHTS])):
            of_row = {name: value[row] for name, value in outputs.items()}
            if not np.isfinite(of_row[names.RECORD_PREDICTIONS][of_row[names.RECORD_WEIGHTS] > 0]).all():
                found.add(Records(broken=1))
                continue
            found.add(Records(TASKS[task.kind].collected(task, of_row, "")))
    return found
