"""Bundles: a model on disk with its recipe, its weights by path and its tokenizer."""

import contextlib
import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import keras
import numpy as np
import numpy.typing as npt

from firth import storage
from firth.layers.elements.seeds import undrawn
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.backbones.backbone import CarriedState
from firth.models.builders import build_model
from firth.recipes import RecipeError, recipe_to_yaml
from firth.recipes.base.errors import first_of
from firth.recipes.reading.loading import load_run_recipe
from firth.recipes.run.base import (
    RECIPE_FILE as RECIPE_FILE,
    TOKENIZER_FOLDER as TOKENIZER_FOLDER,
    WEIGHTS_FILE as WEIGHTS_FILE,
)
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorFile, TensorSpec, dtype_name, open_tensors, write_tensors

_FORMAT = "1"
_STORED, _FRESH = "stored_dtypes", "fresh"


class BundleError(ValueError):
    """A folder holds no model bundle, or one that does not fit together."""


def save_model(
    model: BackboneWithHeads,
    recipe: RunRecipe,
    tokenizer_folder: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    stored: Mapping[str, Sequence[str]] | None = None,
    others: Mapping[str, str | os.PathLike[str]] = MappingProxyType({}),
) -> None:
    """Writes a model bundle: `recipe.yaml`, `weights.safetensors` and `tokenizer/`.

    The folder appears whole or not at all.

    Args:
        model: The model that `build_model` made of the recipe. Optimizers, the generator of dropout and the
            state that recurrent models carry from batch to batch are not a part of it.
        recipe: The recipe that the model was made of.
        tokenizer_folder: The folder that `firth.tokenizers.save_tokenizer` wrote; it is copied.
        folder: The bundle's place, on this machine or with a scheme (`gs://`). There must be no bundle.
        stored: By path, the dtypes of the tensors of another format that a weight was made of; kept for the
            way back.
        others: Folders that are copied into the bundle too, by their names there.

    Raises:
        FileExistsError: if there is a bundle already.
        OSError: if the tokenizer cannot be read, or the folder cannot be written.
    """
    weights = weights_by_path(model)
    # `convert_to_numpy` would copy twice.
    arrays = ((path, np.asarray(each.value)) for path, each in weights.items())
    write_bundle(folder, recipe, tokenizer_folder, specs_of(weights), arrays, stored, others=others)


def write_bundle(
    folder: str | os.PathLike[str],
    recipe: RunRecipe,
    tokenizer_folder: str | os.PathLike[str],
    specs: Mapping[str, TensorSpec],
    arrays: Iterable[tuple[str, npt.NDArray[Any]]],
    stored: Mapping[str, Sequence[str]] | None = None,
    fresh: Sequence[str] = (),
    others: Mapping[str, str | os.PathLike[str]] = MappingProxyType({}),
) -> None:
    """Writes a model bundle of weights that come one by one, in any order.

    Raises:
        ValueError: if a weight is not that of the specs, or is missing.
        FileExistsError: if there is a bundle already.
        OSError: if the tokenizer cannot be read, or the folder cannot be written.
    """
    told = {name: json.dumps(each) for name, each in ((_STORED, stored), (_FRESH, fresh)) if each}
    metadata = {"format": _FORMAT, "library": "firth", **told}
    with storage.whole_folder(folder) as unfinished:
        for name, source in {**others, TOKENIZER_FOLDER: tokenizer_folder}.items():
            storage.copy_folder(source, os.path.join(unfinished, name))
        storage.write_text(os.path.join(unfinished, RECIPE_FILE), recipe_to_yaml(recipe))
        write_tensors(os.path.join(unfinished, WEIGHTS_FILE), specs, arrays, metadata)


def load_model(folder: str | os.PathLike[str], dtype: Any = None) -> BackboneWithHeads:
    """Returns the model of a bundle, with its weights. Needs neither TFX nor Beam.

    It is a `PretrainingModel`, or a `TaskModel` of a run that adapted one.
    `model.backbone(features)` gives hidden states, `model.logits(features)` the logits of each loss, and
    `model(features)` its predictions. `firth.serving.load_served` reads texts with the bundle's tokenizer.

    Args:
        folder: The folder that `save_model` wrote, such as the `bundle` next to an exported model. Its
            tokenizer is `firth.tokenizers.load_tokenizer(folder + "/tokenizer")`.
        dtype: A Keras dtype or policy; None as for `build_model`.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or writing it was cut short.
        BundleError: if files are missing or damaged, or the weights are not those of the recipe's model.

    Example:

    >>> import tempfile
    >>> from firth.models import build_pretraining_model
    >>> from firth.recipes import load_recipe
    >>> recipe = load_recipe("bert_tiny", ["tokenizer.vocabulary_size=100"])
    >>> with tempfile.TemporaryDirectory() as root:
    ...     os.mkdir(f"{root}/words")
    ...     save_model(build_pretraining_model(recipe), recipe, f"{root}/words", f"{root}/model")
    ...     load_model(f"{root}/model").backbone.width
    128
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        with undrawn():
            model = build_model(read_recipe(local), dtype)
        with open_weights(local) as file:
            _assign(model, file)
    return model


@contextlib.contextmanager
def open_weights(folder: str | os.PathLike[str]) -> Iterator[TensorFile]:
    """Opens the weights of a bundle by path, for as long as they are read one by one.

    Raises:
        BundleError: if the weights are missing or damaged, or of another format.
    """
    with storage.local_copy(os.path.join(folder, WEIGHTS_FILE)) as path:
        yield _opened(path)


def stored_dtypes(file: TensorFile) -> dict[str, list[str]]:
    """Returns the dtypes of the tensors that a bundle's weights were made of, by path."""
    return json.loads(file.metadata.get(_STORED, "{}"))


def untrained_weights(file: TensorFile) -> tuple[str, ...]:
    """Returns the paths of a bundle's weights that are as a seed made them, such as those of a fresh head."""
    return tuple(json.loads(file.metadata.get(_FRESH, "[]")))


def weights_by_path(model: BackboneWithHeads) -> dict[str, keras.Variable]:
    """Returns a model's weights by their paths, such as `backbone/encoder/block_0/attention/kernel`.

    A path does not begin with the model's own name, which depends on how many a process has made. The state
    that recurrent models carry from batch to batch is left out.
    """
    carried = [each for each in model.backbone.layers if isinstance(each, CarriedState)]
    left_out = {id(weight) for layer in carried for weight in layer.weights}
    weights = [each for each in model.weights if id(each) not in left_out]
    by_path = {each.path.split("/", 1)[1]: each for each in weights}
    if len(by_path) < len(weights):
        paths = [each.path for each in weights]
        raise ValueError(f"two weights are named {next(path for path in paths if paths.count(path) > 1)}")
    return by_path


def specs_of(weights: Mapping[str, keras.Variable]) -> dict[str, TensorSpec]:
    """Returns dtypes and shapes of a model's weights by path."""
    return {
        path: TensorSpec(dtype_name(np.dtype(each.dtype)), tuple(each.shape))
        for path, each in weights.items()
    }


def read_recipe(folder: str | os.PathLike[str]) -> RunRecipe:
    """Returns the recipe of a bundle.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or writing it was cut short.
        BundleError: if the recipe is missing or damaged.
    """
    storage.check_whole(folder)
    with storage.local_copy(os.path.join(folder, RECIPE_FILE)) as local:
        return _read_recipe(local)


def _read_recipe(path: str) -> RunRecipe:
    try:
        return load_run_recipe(path)
    except (RecipeError, OSError) as error:
        raise BundleError(f"{path} holds no recipe of this version of firth: {error}") from error


def _opened(path: str) -> TensorFile:
    file = open_tensors(path, BundleError)
    _check_format(path, file.metadata)
    return file


def check_weights(file: TensorFile, variables: Mapping[str, keras.Variable]) -> None:
    """Refuses the weights of a bundle that are not those of a model.

    Raises:
        BundleError: if paths or shapes differ.
    """
    _check_names(file.path, set(file), set(variables))
    _check_shapes(file, variables)


def _assign(model: BackboneWithHeads, file: TensorFile) -> None:
    variables = weights_by_path(model)
    check_weights(file, variables)
    for name, variable in variables.items():
        variable.assign(file[name])


def _check_format(path: str, metadata: dict[str, str]) -> None:
    if metadata.get("library") != "firth" or metadata.get("format") != _FORMAT:
        raise BundleError(f"{path} is not of format {_FORMAT} of firth's weights; it says {metadata}")


def _check_names(path: str, found: set[str], wanted: set[str]) -> None:
    problems = []
    for name in sorted(wanted - found):
        near = difflib.get_close_matches(name, found - wanted, 1)
        problems.append(f"no {name}" + (f" (there is {near[0]})" if near else ""))
    problems += [f"{name} is not in the model" for name in sorted(found - wanted)]
    _refuse(path, problems)


def _check_shapes(file: TensorFile, variables: Mapping[str, keras.Variable]) -> None:
    shapes = {name: file.spec(name).shape for name in variables}
    _refuse(
        file.path,
        [
            f"{name} is {list(shapes[name])}, the model's is {list(variable.shape)}"
            for name, variable in variables.items()
            if shapes[name] != tuple(variable.shape)
        ],
    )


def _refuse(path: str, problems: Iterable[str]) -> None:
    problems = list(problems)
    if problems:
        raise BundleError(f"{path} does not fit its recipe: {first_of(problems, separator='; ')}")
