"""firth's worker of `benchmarks.finetune`: rows from disk, its own input pipeline and training step."""

import importlib.metadata
import os
import platform

import keras
import tensorflow as tf

from benchmarks.workers.finetune_files import TOKENIZER, count_examples, read_recipe, rows_pattern
from benchmarks.workers.finetune_sizes import FineTuneSize
from firth import features as names
from firth.models import build_model
from firth.tasks import TASKS
from firth.tokenizers import load_tokenizer
from firth.training.input_pipeline import training_batches
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.pretraining import open_rows
from firth.training.step import build_train_step
from firth.tuning import METHODS


class Model:
    """Steps on the records of a folder; see `benchmarks.workers.finetune_work`."""

    def __init__(self, size: FineTuneSize, folder: str):
        recipe = read_recipe(folder)
        tokenizer = load_tokenizer(os.path.join(folder, TOKENIZER))
        rows = open_rows(recipe, [rows_pattern(folder)], folder)
        model = build_model(recipe, dtype=size.precision)
        training, steps = recipe.training, recipe.training.steps
        multipliers = METHODS[recipe.method.kind](model, recipe.method, steps)
        optimizer = build_optimizer(training.optimizer, steps, multipliers=multipliers)
        optimizer.build(model.trainable_variables)
        strategy = tf.distribute.get_strategy()
        self._step = build_train_step(model, optimizer, recipe.task.losses, strategy, recipe.seed)
        task = TASKS[recipe.task.kind](recipe.task, recipe.sequences, tokenizer)
        options = {"negatives": recipe.goal.uses_negative, "epochs_drawn": recipe.goal.epochs_drawn}
        self._batches = iter(
            training_batches(rows, task, recipe.seed, training.batch_size, 0, steps, **options)
        )
        self.versions = {
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
            "firth": importlib.metadata.version("firth"),
        }

    def steps(self, count: int) -> dict[str, int]:
        """Forward, backward, clipping and AdamW."""
        examples = tokens = 0
        for _ in range(count):
            _, batch = next(self._batches)
            float(self._step(batch).loss)
            examples += count_examples(batch)
            tokens += int(tf.math.count_nonzero(batch[names.DOCUMENT_IDS]))
        return {"examples": examples, "tokens": tokens}
