"""A case of `benchmarks.prediction`: a recipe's training step, and what is predicted of it."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.workers import batches
from benchmarks.workers.families import FAMILIES, Size
from benchmarks.workers.memory import status_bytes
from benchmarks.workers.recipes import make_recipe
from benchmarks.workers.words import with_words
from firth.recipes.run.recipe import Recipe
from firth.recipes.training.training import Training

TARGETS = {"corruption": 32, "denoising": 128}
WORDS = [" ".join(f"word{number}" for number in range(3000))]
ROUNDS = 3
_SIZE = Size()


@dataclasses.dataclass(frozen=True)
class Case:
    """A training to predict.

    Attributes:
        family: A key of `benchmarks.workers.families.FAMILIES`.
        size: Its size.
        vocabulary: Number of pieces.
        training: Further keys of the recipe's `training`.
    """

    family: str
    size: Size = _SIZE
    vocabulary: int = 8000
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        family = dataclasses.replace(FAMILIES[self.family], vocabulary=self.vocabulary)
        made = make_recipe(self.family, family, self.size)
        keys = {"batch_size": self.size.batch, "precision": self.size.precision, **self.training}
        return made.model_copy(update={"training": Training.model_validate(keys)})

    def features(self) -> batches.Features:
        """Returns a batch of rows that a document fills."""
        family = dataclasses.replace(FAMILIES[self.family], vocabulary=self.vocabulary)
        lots = {"full": batches.full_lots(family, self.size, TARGETS.get(family.task, 0), 1)}
        if family.task == "bidirectional":
            lots = with_words(lots, WORDS, family.vocabulary)
        return lots["full"][0]


def make_step(recipe: Recipe, features: batches.Features) -> Callable[[], float]:
    """Returns a function that makes a training step of a recipe, as a run does, and waits for its end."""
    step, batch = compiled_step(recipe, features)
    return lambda: float(step(batch).loss)


def compiled_step(recipe: Recipe, features: batches.Features) -> tuple[Any, dict[str, Any]]:
    """Returns the compiled training step of a recipe, as a run makes it, and the batch that it reads."""
    import tensorflow as tf

    from firth import features as names
    from firth.models import build_model
    from firth.training.input_pipeline import noise_keys
    from firth.training.optimizers.optimizer_kinds import build_optimizer
    from firth.training.step import build_train_step

    training, rows = recipe.training, np.arange(recipe.training.batch_size)
    model = build_model(recipe)
    optimizer = build_optimizer(training.optimizer, training.steps, model=model)
    optimizer.build(model.trainable_variables)
    step = build_train_step(
        model,
        optimizer,
        recipe.objective.losses,
        tf.distribute.get_strategy(),
        recipe.seed,
        training.gradient_accumulation_steps,
    )
    keyed = {**features, names.NOISE_KEYS: noise_keys(recipe.seed, np.zeros_like(rows), rows)}
    return step, {name: tf.constant(value) for name, value in keyed.items()}


def measure(case: Case) -> dict[str, float]:
    """Returns bytes and seconds of a case, measured and predicted, in a process that has done nothing else.

    Seconds are those of the processor; the rates that time is predicted from are measured in turn with steps.
    """
    import tensorflow as tf

    from benchmarks.workers.allocations import peak_of
    from firth.recipes.counting import memory_bytes
    from firth.recipes.counting.accelerators import step_seconds
    from firth.training.cpu_rates import measure_cpu

    recipe = case.recipe
    features = case.features()
    tf.reduce_sum(tf.ones([2])).numpy()
    before = _private_bytes()
    step = make_step(recipe, features)
    step()
    _forget_peak()
    for _ in range(2):
        step()
    process = _peak_bytes() - before
    measured, predicted = [], []
    for _ in range(ROUNDS):
        predicted.append(step_seconds(recipe, measure_cpu(time.process_time))["total"])
        started = time.process_time()
        step()
        measured.append(time.process_time() - started)
    memory = memory_bytes(recipe)
    return {
        "predicted bytes": memory["total"] - memory["checkpoint"],
        "bytes of tensors": memory["weights"] + memory["moments"] + peak_of(step).held,
        "bytes of process": process,
        "predicted seconds": statistics.median(predicted),
        "seconds": statistics.median(measured),
        "ratio of seconds": statistics.median(a / b for a, b in zip(predicted, measured)),
    }


def _private_bytes() -> int:
    return status_bytes()["RssAnon"]


def _peak_bytes() -> int:
    """Returns the most memory since `_forget_peak`, without what is read of files."""
    status = status_bytes()
    return status["VmHWM"] - status["RssFile"] - status["RssShmem"]


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
