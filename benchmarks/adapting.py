"""A model adapted to a task in this process, without a pipeline: rows, training, scores."""

import hashlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.corpus.io.records import write_records
from firth.evaluation.record_scores import Records
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.scores import Collected
from firth.scores.rouge import lead
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.tasks import TASKS
from firth.tasks.labelled.data import read_labelled_data
from firth.tasks.labelled.examples import to_example
from firth.tasks.readers import LabelledRecord
from firth.tasks.readers.records import TEXT
from firth.tasks.task_options import read_for
from firth.tasks.task_rows import make_task_rows
from firth.tasks.texts import key_of
from firth.tokenizers import load_tokenizer
from firth.training.history import read_history
from firth.training.pretraining import open_rows, train
from firth.training.rows import count_documents

SPLITS = ("train", "eval")


Outputs: TypeAlias = dict[str, npt.NDArray[Any]]


class Adapting:
    """A folder with the rows of tasks, which runs with other seeds use again.

    Args:
        folder: Folder, made if it is not there.
        records: Most records to train on; the rest of a large data set is left out, by a hash of the ids.
        held_out: Most records to score, of the held-out ones; chosen in the same way.
    """

    def __init__(self, folder: pathlib.Path, records: int, held_out: int):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # Processes next to each other share the rows, and no run.
        self._run = tempfile.TemporaryDirectory(dir=folder, prefix="run-")
        self._most = {"train": records, "eval": held_out}

    def recipe(
        self, bundle: str, data: Mapping[str, Any], task: Mapping[str, Any], **more: Any
    ) -> AdaptingRecipe:
        """Returns the recipe that adapts a bundle to a task, with what it leaves open to its data."""
        key = hashlib.sha256(json.dumps([data, task], sort_keys=True).encode()).hexdigest()[:16]
        known = self._folder / f"task-{key}.json"
        # All data are read for that, so what is known of a task is kept.
        if known.exists():
            task = json.loads(known.read_text())
        said = {"base": bundle, "data": data, "task": task, "evaluation.thresholds": [], **more}
        recipe = load_adapting_recipe(None, [f"{name}={json.dumps(value)}" for name, value in said.items()])
        if not known.exists():
            recipe, _ = read_for(recipe)
            self._folder.mkdir(parents=True, exist_ok=True)
            # Its form is the base's.
            found = recipe.task.model_dump(mode="json", include={"labels", "scores", "mean", "class_shares"})
            known.write_text(json.dumps({**task, **{name: each for name, each in found.items() if each}}))
        return recipe

    def served(self, recipe: AdaptingRecipe) -> Served:
        """Returns the model after training, with its tokenizer."""
        run = pathlib.Path(self._run.name)
        shutil.rmtree(run, ignore_errors=True)
        train_files = [f"{self._rows(recipe)}/Split-train/*"]
        opened = open_rows(recipe, train_files, str(run))
        scheduled = recipe.scheduled(len(opened), count_documents(opened))
        tokenizer = os.path.join(recipe.base.bundle, TOKENIZER_FOLDER)
        model = train(scheduled, train_files, tokenizer, str(run), str(run))
        return Served(model, load_tokenizer(tokenizer), scheduled)

    def examples_per_second(self, recipe: AdaptingRecipe) -> float | None:
        """Returns the median speed of the last training, its first steps left out; None for a short one."""
        lines = read_history(self._run.name)
        timed = [line["tokens_per_second"] for line in lines if line["tokens_per_second"]]
        if not timed:
            return None
        tokens_per_example = lines[-1]["tokens"] / (lines[-1]["step"] * recipe.examples_per_step)
        return float(np.median(timed)) / tokens_per_example

    def answers(self, served: Served) -> list[Outputs]:
        """Returns the answers of a model to the held-out records, row by row."""
        evaluate = tf.function(evaluator(served, None))
        files = sorted(tf.io.gfile.glob(f"{self._rows(served.recipe)}/Split-eval/*"))
        size = served.recipe.evaluation.batch_size
        found = []
        for batch in tf.data.TFRecordDataset(files, "GZIP").batch(size).as_numpy_iterator():
            outputs = {name: value.numpy() for name, value in evaluate(tf.constant(batch)).items()}
            for place, row in enumerate(batch):
                of_row = {name: value[place] for name, value in outputs.items()}
                found.append({**of_row, names.RECORD_DETAILS: _details(row)})
        return found

    def lead(self, recipe: AdaptingRecipe) -> Records:
        """Returns the held-out records of a task that summarises, each with its first three sentences."""
        found = read_labelled_data(recipe.data, recipe.task)
        return Records(
            [
                Collected(str(key_of(each.id)), each.label, lead(each.texts[TEXT]))
                for each in self._kept("eval", found.splits["eval"].records)
            ]
        )

    def _rows(self, recipe: AdaptingRecipe) -> pathlib.Path:
        parts = (recipe.data, recipe.task, recipe.sequences, recipe.base.digest, self._most)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        folder = self._folder / f"rows-{key}"
        if not (folder / "report.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            self._make_rows(recipe, folder)
        return folder

    def _kept(self, split: str, records: Iterable[LabelledRecord]) -> list[LabelledRecord]:
        ordered = sorted(records, key=lambda each: hashlib.sha256(each.id.encode()).digest())
        return ordered[: self._most[split]]

    def _make_rows(self, recipe: AdaptingRecipe, folder: pathlib.Path) -> None:
        found = read_labelled_data(recipe.data, recipe.task)
        for name, split in found.splits.items():
            examples = (to_example(each, found.source) for each in self._kept(name, split.records))
            write_records(f"{folder}/records/{name}", 0, 1, examples)
        make_task_rows(
            {name: f"{folder}/records/{name}/*" for name in SPLITS},
            recipe.task,
            recipe.sequences,
            load_tokenizer(os.path.join(recipe.base.bundle, TOKENIZER_FOLDER)),
            {name: f"{folder}/Split-{name}" for name in SPLITS},
            str(folder),
        )


def records_of(task: Any, rows: Iterable[Outputs]) -> Records:
    """Returns the held-out records with the answers to them."""
    kind, found = TASKS[task.kind], Records()
    for row in rows:
        weights = row[names.RECORD_WEIGHTS] > 0
        if np.isfinite(row[names.RECORD_PREDICTIONS][weights]).all():
            found.add(Records(kind.collected(task, row, "")))
        else:
            found.add(Records(broken=1))
    join = getattr(kind, "joined", None)
    return found if join is None or found.broken else Records(**join(task, found.examples))


def _details(row: bytes) -> npt.NDArray[Any]:
    fields = tf.train.Example.FromString(row).features.feature
    return np.array(list(fields[names.RECORD_DETAILS].bytes_list.value), object)
