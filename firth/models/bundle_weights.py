"""Initialises a model from the weights of a bundle."""

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

import keras
import numpy as np
import numpy.typing as npt

from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import BundleError, open_weights, untrained_weights, weights_by_path
from firth.recipes.base.errors import first_of

_BACKBONE, _ADDED = "backbone/", "added/"


@dataclasses.dataclass(frozen=True)
class UnmatchedWeights:
    """Weights of a model and of a bundle that do not match, after the model started from the bundle.

    Attributes:
        fresh: Paths of weights that the bundle lacks, or has as a seed made them; they are not trained yet.
        unused: Paths of the bundle's weights that the model has no place for.
        absent: Paths of those fresh weights that the bundle lacks; they are as the model was made.
    """

    fresh: tuple[str, ...]
    unused: tuple[str, ...]
    absent: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class AddedPieces:
    """Pieces that a model's vocabulary has after those of the bundle.

    Attributes:
        after: Number of pieces of the bundle's tokenizer; the new ones have the next ids.
        parts: For each new piece, the ids of the pieces that it fell into before.
        rows: Number of rows of the bundle's tables, of which some may belong to no piece.
    """

    after: int
    parts: Sequence[Sequence[int]]
    rows: int

    def fits(self, before: tuple[int, ...], now: tuple[int, ...]) -> bool:
        """Returns true if two shapes of a weight differ only in the rows of the vocabulary."""
        differing = [axis for axis, size in enumerate(before) if now[axis : axis + 1] != (size,)]
        return len(before) == len(now) and len(differing) == 1 and before[differing[0]] == self.rows

    def grow(self, stored: npt.NDArray[Any], made: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns a weight with rows for the new pieces, each the mean of the rows of its parts."""
        (axis,) = (axis for axis, size in enumerate(stored.shape) if made.shape[axis] != size)
        old, new = np.moveaxis(stored, axis, 0), np.moveaxis(made.copy(), axis, 0)
        means = [old[list(ids)].mean(axis=0) for ids in self.parts]
        place = self.after + len(means)
        new[: self.after] = old[: self.after]
        for number, mean in enumerate(means, self.after):
            new[number] = mean
        new[place : len(old) + len(means)] = old[self.after :]
        return np.moveaxis(new, 0, axis)


NOTHING_ADDED = AddedPieces(after=0, parts=(), rows=0)


def start_from(
    model: BackboneWithHeads, folder: str | os.PathLike[str], added: AddedPieces = NOTHING_ADDED
) -> UnmatchedWeights:
    """Assigns the weights of a bundle to a model of the same backbone, by their paths.

    Heads may differ: a weight of a head that the bundle lacks, or has in another shape, stays as it was made.

    Raises:
        BundleError: if the bundle cannot be read, or its backbone is not the model's.

    Example: see `tests/models/bundle_weights_test.py`.
    """
    variables = weights_by_path(model)
    with open_weights(folder) as file:
        shapes = {name: file.spec(name).shape for name in file}
        taken = {name for name, each in variables.items() if shapes.get(name) == tuple(each.shape)}
        grown = {
            name
            for name in variables.keys() & shapes.keys() - taken
            if added.fits(shapes[name], tuple(variables[name].shape))
        }
        _check_additions(os.fspath(folder), shapes.keys() - variables.keys())
        _check_backbone(os.fspath(folder), variables.keys() - taken - grown, shapes)
        for name in taken:
            variables[name].assign(file[name])
        for name in grown:
            variable = variables[name]
            variable.assign(added.grow(file[name], keras.ops.convert_to_numpy(variable.value)))
        trained = (taken | grown) - set(untrained_weights(file))
    fresh = (name for name in variables if name not in trained)
    absent = (name for name in variables if name not in taken | grown)
    return UnmatchedWeights(tuple(fresh), tuple(sorted(shapes.keys() - taken - grown)), tuple(absent))


def share_base(model: BackboneWithHeads, held: dict[str, keras.Variable]) -> None:
    """Gives a model's weights of its base the memory of those of another model on the same base.

    Example: see `tests/serving/adapter_export_test.py`.
    """
    for path, each in weights_by_path(model).items():
        if each.trainable or path.startswith(f"{model.added.name}/"):
            continue
        # Keras has no public way to say that two of its variables are one.
        each._value = held.setdefault(path, each).value


def _check_additions(folder: str, unused: Iterable[str]) -> None:
    if added := [name for name in unused if name.startswith(_ADDED)]:
        raise BundleError(
            f"{folder} has additions of a method that does not merge, such as {min(added)}, which nothing "
            "starts from; start from the bundle that it was adapted from"
        )


def _check_backbone(folder: str, fresh: set[str], shapes: dict[str, tuple[int, ...]]) -> None:
    lacking = sorted(name for name in fresh if name.startswith(_BACKBONE))
    if lacking:
        shown = [f"{name} is {list(shapes[name])}" if name in shapes else f"no {name}" for name in lacking]
        raise BundleError(f"{folder} has another backbone: {first_of(shown, separator='; ')}")
