"""Settings that a task chooses on its held-out records, with the trained model, before it is exported."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.scores import Collected
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.tasks import TASKS


def leaves_choice(recipe: RunRecipe) -> bool:
    """Returns whether a recipe's task has a setting that is chosen on held-out records."""
    return bool(getattr(recipe.goal, "leaves_choice", False))


def with_choice(served: Served, rows: Sequence[bytes]) -> RunRecipe:
    """Returns the recipe of a trained model with the settings that its task chooses on held-out records."""
    recipe: Any = served.recipe
    examples = answers_to(served, rows)
    return recipe.model_copy(update={"task": TASKS[recipe.task.kind].choosing(recipe.task, examples)})


def answers_to(served: Served, rows: Sequence[bytes]) -> list[Collected]:
    """Returns the records of rows with a trained model's answers, as the task's `collected` gives them."""
    recipe: Any = served.recipe
    evaluate = tf.function(evaluator(served, None), autograph=False)
    examples: list[Collected] = []
    for start in range(0, len(rows), recipe.evaluation.batch_size):
        batch = list(rows[start : start + recipe.evaluation.batch_size])
        outputs = {name: value.numpy() for name, value in evaluate(tf.constant(batch)).items()}
        of_rows = ({name: value[place] for name, value in outputs.items()} for place in range(len(batch)))
        examples += itertools.chain.from_iterable(
            _collected(recipe.task, row, outputs) for row, outputs in zip(batch, of_rows)
        )
    return examples


def _collected(task: Any, row: bytes, outputs: dict[str, npt.NDArray[Any]]) -> list[Collected]:
    features = tf.train.Example.FromString(row).features.feature
    details, source = (features[name].bytes_list.value for name in (names.RECORD_DETAILS, names.SOURCE))
    held = {**outputs, names.RECORD_DETAILS: np.array(list(details), object)}
    found: list[Collected] = TASKS[task.kind].collected(task, held, b"".join(source).decode())
    return found
