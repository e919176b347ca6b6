"""Requests that can be written token by token, and rows of a batch."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from firth.generation.eager.writer import PromptArrays
from firth.generation.request_arrays import power_of_two
from firth.recipes.base.errors import suggest
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import AnySampler


def check_eager(request: GenerationRequest, where: str) -> None:
    """Raises ValueError for a request that needs a graph of TensorFlow, naming the value.

    Args:
        request: Request to check.
        where: End of the sentence.

    Example:

    >>> check_eager(GenerationRequest.with_values({"beams": 2}), "for token ids")
    Traceback (most recent call last):
        ...
    ValueError: sampler: beam is not available for token ids; one of: greedy, sample
    """
    if not request.sampler.chooses_alone:
        samplers: list[Any] = configs_in(AnySampler)
        names = [kind for each in samplers if each.chooses_alone for kind in kinds_of(each)]
        hint = suggest(request.sampler.kind, names)
        raise ValueError(f"sampler: {request.sampler.kind} is not available {where}; {hint}")
    if request.constraint is not None:
        raise ValueError(f"constraint: {request.constraint.kind} is not available {where}")


def padded_rows(prompts: PromptArrays, values: Mapping[str, Any]) -> tuple[PromptArrays, dict[str, Any]]:
    """Returns prompts and values with as many rows as a power of two, so that few functions are compiled.

    Args:
        prompts: Prompts of a batch.
        values: Values of its requests, by name.
    """
    rows = len(prompts.ids)
    more = power_of_two(rows) - rows

    def one(each: Any) -> Any:
        return np.concatenate([each, np.repeat(each[:1], more, axis=0)])

    made: tuple[PromptArrays, dict[str, Any]] = keras.tree.map_structure(one, (prompts, dict(values)))
    return made
