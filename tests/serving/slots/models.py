"""A tiny causal model of random weights, exported with two slots, and slots of others without an export."""

import contextlib
import functools
import pathlib
import shutil
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import tensorflow as tf

from firth.constraints.constraint_cache import ConstraintCache
from firth.generation import Generator
from firth.serving import ContinuousBatcher
from firth.serving.exported_model import FOLDER
from firth.serving.saved_model import export
from firth.serving.served_model import Served
from firth.serving.slots.signatures import SlotSignatures
from firth.serving.slots.texts import TEXT_SIGNATURES
from firth.serving.warmup import FILE
from tests.generation.cases import eagerly, generator_of

# Prompts up to so many tokens have a graph, all others another one.
SHORTEST = mock.patch("firth.generation.slots._SHORTEST", 4)

generator_of_exported = functools.partial(generator_of, "causal_lm")


def exported(made_once) -> str:
    """Returns the folder of the model of `generator_of_exported`, without `evaluate`.

    Args:
        made_once: The fixture of this name.
    """

    def make(folder):
        served = served_by(generator_of_exported(), warmup_requests=1)
        with SHORTEST:
            export(served.model, served.tokenizer, served.recipe, None, str(folder))

    return str(made_once("causal_lm_with_slots", make))


def copy_of_exported(made_once, folder: pathlib.Path) -> pathlib.Path:
    """Copies the model without its warm-up requests, of which a server runs each graph when it starts.

    Args:
        made_once: The fixture of this name.
        folder: Folder that does not exist yet.
    """
    shutil.copytree(exported(made_once), folder)
    (folder / FOLDER / FILE).unlink()
    return folder


def exported_without_warmup(made_once) -> str:
    """Returns the folder of a copy of the model without its warm-up requests; see `copy_of_exported`.

    Args:
        made_once: The fixture of this name.
    """
    return str(made_once("causal_lm_with_slots_cold", lambda folder: copy_of_exported(made_once, folder)))


def batcher_of(made_once) -> ContinuousBatcher:
    """Returns the batcher of the exported model; a test that uses it leaves them free.

    Args:
        made_once: The fixture of this name.
    """
    return _batcher(exported(made_once))


_batcher = functools.cache(ContinuousBatcher)


def served_by(generator: Generator, **changes: int) -> Served:
    """Returns the model of a generator with two slots, and with other changes of its export."""
    changed = generator.recipe.export.model_copy(update={"slots": 2, **changes})
    recipe = generator.recipe.model_copy(update={"export": changed})
    return Served(generator.model, generator.tokenizer, recipe)


class OpByOp:
    """Answers as an exported model does, by the functions that would be exported.

    Args:
        signatures: Signatures of slots.
        in_graphs: Names of those that have a graph, for many calls.
    """

    def __init__(self, signatures: SlotSignatures, in_graphs: Sequence[str] = ()) -> None:
        self._functions, self._in_graphs = signatures.functions(), in_graphs
        # Answers of the signatures of texts, which depend on their inputs alone.
        self._known: dict[str, dict[str, np.ndarray]] = {}
        for each in signatures.kept.variables:
            each._initialize()

    def run(self, name: str, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        """Returns the outputs of a signature, as `Loaded.run` does; those of the same texts once."""
        if name not in TEXT_SIGNATURES:
            return self._asked(name, inputs)
        plain = {each: np.array(values, object).tolist() for each, values in inputs.items()}
        key = f"{name} {plain}"
        if key not in self._known:
            self._known[key] = self._asked(name, inputs)
        return {output: value.copy() for output, value in self._known[key].items()}

    def _asked(self, name: str, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        specs = self._functions[name].input_signature
        with contextlib.nullcontext() if name in self._in_graphs else eagerly():
            found = self._functions[name](*(tf.constant(inputs[each.name], each.dtype) for each in specs))
        return {output: value.numpy() for output, value in found.items()}


def batcher_op_by_op(served: Served, *bind: Any, in_graphs: Sequence[str] = ()) -> ContinuousBatcher:
    """Returns the batcher of a model that is not exported.

    Args:
        served: Model, tokenizer and recipe.
        *bind: As `SlotSignatures` takes it.
        in_graphs: As `OpByOp` takes them.
    """
    with SHORTEST:
        signatures = SlotSignatures(served, *bind)
        description = {"slots": signatures.describe()}
    with mock.patch.multiple(
        "firth.serving.slots.batcher",
        newest_model=str,
        read_description=lambda _: description,
        Loaded=lambda _: OpByOp(signatures, in_graphs),
    ):
        batcher = ContinuousBatcher("no folder")
    batcher.constraints = ConstraintCache(lambda: signatures.token_bytes)
    return batcher
