"""Prompts that several tasks share, with two matrices for each task."""

import os
from collections.abc import Mapping
from typing import Any

import safetensors
from keras import ops

from firth import features as names, storage
from firth.layers.elements.seeds import normal
from firth.layers.elements.types import Seed, Tensor
from firth.models.additions.addition_places import (
    TuningError,
    add_at_places,
    keywords_of,
    places_of,
    require_fit,
)
from firth.models.additions.prompt import Prompt
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.prompts import MultitaskPromptTuning
from firth.storage.tensor_files import TensorFile

# As in peft.
_STDDEV = 0.02
_WEIGHTS = "adapter.safetensors"


class MultitaskPrompt(Prompt):
    """Vectors before the embedded tokens: those of all tasks, times the product of two matrices of a task.

    Wang et al. 2023, "Multitask Prompt Tuning Enables Parameter-Efficient Transfer Learning", section 3.1.

    Example:

    >>> import numpy as np
    >>> prompt = MultitaskPrompt(length=3, width=4, tasks=2, rank=1)
    >>> tuple(prompt({"task_ids": np.array([[1], [0]])}).shape), tuple(prompt({}).shape)
    ((2, 3, 4), (1, 3, 4))
    """

    def __init__(
        self, length: int, width: int, tasks: int, rank: int, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(length, width, seed, **kwargs)

    def build(self, features_shape: Any = None) -> None:
        """Creates `vectors` [length, width], `columns` [tasks, length, rank], `rows` [tasks, rank, width]."""
        super().build(features_shape)
        start = normal(_STDDEV, self._generator, truncated=False)
        self.columns = self._weight("columns", (self.tasks, self.length, self.rank), start)
        self.rows = self._weight("rows", (self.tasks, self.rank, self.width), start)

    def call(self, features: Mapping[str, Tensor]) -> Tensor:
        """Returns the vectors of the task of each row, a float tensor [batch or 1, length, width].

        Args:
            features: Features of a batch: with `task_ids`, int32 [batch, records], those of the first
                records' tasks. Without them, and of a row whose number is -1, the average of the tasks'
                products is read.
        """
        ids = features.get(names.TASK_IDS) if self.tasks > 1 else None
        products = ops.matmul(self.columns, self.rows)
        # The mean is of the products, not of their factors: (u, v) and (-u, -v) are one product, and the mean
        # of these factors is zero.
        average = ops.mean(products, axis=0, keepdims=True)
        if ids is None:
            return self.own() * average
        numbers = ops.where(ids[:, 0] < 0, self.tasks, ids[:, 0])
        return self.own() * ops.take(ops.concatenate([products, average], axis=0), numbers, 0)

    def begin(self, model: BackboneWithHeads, tokenizer: Any, method: MultitaskPromptTuning) -> None:
        """Assigns token embeddings to the prompt, or the prompt that a run over tasks has saved."""
        if not method.source:
            super().begin(model, tokenizer, method)
            return
        vectors, columns, rows = _read(method.source)
        if method.from_source == "exact":
            if method.source_task >= len(columns):
                raise TuningError(
                    f"method.source_task: {method.source_task}, but the source has {len(columns)} tasks"
                )
            columns, rows = (each[method.source_task][None] for each in (columns, rows))
        elif method.from_source == "average":
            columns, rows = (each.mean(axis=0, keepdims=True) for each in (columns, rows))
        taken = {"vectors": vectors, "columns": columns, "rows": rows}
        if method.from_source == "shared":
            taken = {"vectors": vectors}
        for name, value in taken.items():
            own = getattr(self, name)
            if value.shape != tuple(own.shape):
                raise TuningError(
                    f"method.source: {method.source} has {name} {list(value.shape)}, the method's are "
                    f"{list(own.shape)}"
                )
            own.assign(value)


def _read(folder: str) -> list[Any]:
    try:
        with storage.local_copy(os.path.join(folder, _WEIGHTS)) as path:
            file = TensorFile(path)
            by_end = {name.rpartition("/")[2]: name for name in file if "/multitask_prompt_tuning/" in name}
            return [file[by_end[end]] for end in ("vectors", "columns", "rows")]
    except (safetensors.SafetensorError, OSError, KeyError) as error:
        raise TuningError(
            f"method.source: {folder} has no adapter of method.kind: multitask_prompt_tuning: {error}"
        ) from error


def add_multitask_prompt(model: BackboneWithHeads, method: MultitaskPromptTuning) -> None:
    """Adds a prompt that tasks share to a model.

    Raises:
        TuningError: for a backbone that takes no virtual tokens.
    """
    require_fit(model, method)

    def make(place: Any) -> MultitaskPrompt:
        size = (method.length, place.inputs, method.tasks, method.rank)
        return MultitaskPrompt(*size, **keywords_of(model, method))

    add_at_places(model, method.kind, [place for place in places_of(model) if place.name == "prompt"], make)
