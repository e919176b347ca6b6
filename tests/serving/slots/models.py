"""Tiny models of random weights, exported with two slots."""

import atexit
import functools
import os
import shutil
import tempfile
from unittest import mock

from firth.serving import ContinuousBatcher
from firth.serving.saved_model import export
from tests.generation.cases import generator_of


@functools.cache
def exported(name: str, **changes: int) -> str:
    """Returns the folder of a case of `tests/generation/cases.py` with two slots.

    There is a graph for prompts up to four tokens, and one for all others.
    """
    generator = generator_of(name)
    said = {"slots": 2, "warmup_requests": 1, **changes}
    recipe = generator.recipe.model_copy(update={"export": generator.recipe.export.model_copy(update=said)})
    folder = tempfile.mkdtemp(prefix="firth-slots-")
    atexit.register(shutil.rmtree, folder)
    directory = os.path.join(folder, "model")
    with mock.patch("firth.generation.slots._SHORTEST", 4):
        export(generator.model, generator.tokenizer, recipe, None, directory)
    return directory


@functools.cache
def batcher_of(name: str, **changes: int) -> ContinuousBatcher:
    """Returns what drives the slots of a case; a test that uses it leaves them free."""
    return ContinuousBatcher(exported(name, **changes))
