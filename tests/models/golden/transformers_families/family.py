"""The type of a family of reference models, and random texts."""

import dataclasses
from collections.abc import Callable

import numpy as np
import torch
import transformers

LENGTHS, TARGET_LENGTHS = (12, 7, 9), (6, 10, 4)
IGNORED = -100
VOCABULARY, MASK = 40, 1
# Large enough that a norm without it, or with another one, is seen.
EPSILON = 1e-3
Arrays = dict[str, np.ndarray]
Tensors = dict[str, torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Family:
    """A model's class and settings, its inputs, and a function that runs it and returns arrays to keep."""

    model: Callable
    config: type[transformers.PretrainedConfig]
    settings: dict
    inputs: Callable[[np.random.Generator], Arrays]
    run: Callable


def padded(
    generator: np.random.Generator, lengths: tuple[int, ...], pad: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns random ids, none of them that of padding, and the mask of what is real."""
    shape = (len(lengths), max(lengths))
    real = np.arange(shape[1]) < np.array(lengths)[:, None]
    return np.where(real, generator.integers(2, VOCABULARY, shape), pad), real


def one_text(generator: np.random.Generator, pad: int) -> Arrays:
    ids, real = padded(generator, LENGTHS, pad)
    return {"input_ids": ids, "attention_mask": real.astype("int64")}


def masked_inputs(generator: np.random.Generator, pad: int = 0) -> Arrays:
    inputs = one_text(generator, pad)
    predicted = (generator.random(inputs["input_ids"].shape) < 0.3) & (inputs["attention_mask"] == 1)
    labels = generator.integers(2, VOCABULARY, predicted.shape)
    return {**inputs, "labels": np.where(predicted, labels, IGNORED)}


def pair_inputs(generator: np.random.Generator, label: str) -> Arrays:
    inputs = masked_inputs(generator)
    second = np.arange(max(LENGTHS)) >= np.array([[5], [3], [4]])
    return {**inputs, "token_type_ids": second * inputs["attention_mask"], label: np.array([0, 1, 1])}


def last_states(model: transformers.PreTrainedModel, inputs: Tensors) -> Tensors:
    names = ("input_ids", "attention_mask", "token_type_ids")
    states = model.base_model(**{name: inputs[name] for name in names if name in inputs})
    return {"hidden/last": states.last_hidden_state}


def single(name: str) -> Callable:
    """Returns a function that runs a model with one loss."""

    def run(model, inputs: Tensors) -> Tensors:
        return {**last_states(model, inputs), f"loss/{name}": model(**inputs).loss}

    return run
