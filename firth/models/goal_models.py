"""The models of an objective and of a task."""

from collections.abc import Mapping
from typing import Any

import keras

from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.base.recipe_type import config_of
from firth.recipes.models.model import AnyModel
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.tasks.task import Task


@keras.saving.register_keras_serializable(package="firth")
class PretrainingModel(BackboneWithHeads):
    """Features to the predictions of each loss of an objective.

    Args:
        model: The recipe's `model`, or a mapping of its values.
        objective: The recipe's `objective`, or a mapping of its values.
        vocabulary_size: Number of rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Losses are float32 under each.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Raises:
        ValueError: for a value of `model` or `objective` that does not fit, with the nearest valid name.

    Example: see `build_pretraining_model`.
    """

    name_in_paths = "pretraining_model"
    _goal_key = "objective"

    def __init__(
        self,
        model: AnyModel | Mapping[str, Any],
        objective: AnyObjective | Mapping[str, Any],
        vocabulary_size: int,
        seed: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        shape = config_of("model", AnyModel, model)
        goal = config_of("objective", AnyObjective, objective)
        super().__init__(shape, goal, vocabulary_size, seed, dtype, **kwargs)


class TaskModel(BackboneWithHeads):
    """Features to the predictions of each loss of a task.

    `firth.models.save_model` keeps it with its recipe; Keras's own `save` cannot, for it knows no task.

    Args:
        model: The recipe's `model`, or a mapping of its values.
        task: The recipe's `task`.
        vocabulary_size: Number of rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Losses are float32 under each.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Raises:
        ValueError: for a value of `model` that does not fit, with the nearest valid name.

    Example: see `build_model`.
    """

    name_in_paths = "task_model"
    _goal_key = "task"

    def __init__(
        self,
        model: AnyModel | Mapping[str, Any],
        task: Task,
        vocabulary_size: int,
        seed: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(config_of("model", AnyModel, model), task, vocabulary_size, seed, dtype, **kwargs)
