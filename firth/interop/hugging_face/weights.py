"""The weights of a model of ours, of a checkpoint's tensors, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras

from firth.interop.hugging_face.checkpoint.tensors import Tensors
from firth.interop.hugging_face.conversion import converted, stored_dtypes
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.names import named
from firth.interop.hugging_face.rules import Rule
from firth.interop.incoming import Incoming
from firth.interop.read import Read
from firth.models.bundle import specs_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorSpec


def incoming_weights(
    specs: Mapping[str, TensorSpec], recipe: RunRecipe, family: Family, tensors: Tensors
) -> Incoming:
    """Returns what a checkpoint's tensors become in a model of a recipe.

    Tensors of a base model may stand with or without the family's name in front. Heads that the checkpoint
    lacks are fresh.
    """
    rules = family.rules(recipe.model, recipe.goal)
    tensors = named(family, rules, tensors)
    stored = stored_dtypes(rules, tensors)
    fresh = tuple(path for path in specs if path not in stored)
    reason = _reason(family, recipe, tensors) if fresh else ""
    read = Read(fresh, tuple(_surplus(family, rules, tensors)), stored, reason=reason)
    return Incoming(read, converted(rules, family, tensors, specs, has_output=True))


def _reason(family: Family, recipe: RunRecipe, tensors: Tensors) -> str:
    """Returns why a head whose tensors are there is fresh; nothing if they are not there."""
    heads = family.not_computed(recipe.model, recipe.goal)
    if heads is None or not all(
        name in tensors for rule in heads.rules(recipe.model) for name in rule.theirs
    ):
        return ""
    return f"{heads.architecture} {heads.otherwise}"


def assign_weights(backbone: keras.Model, rules: Sequence[Rule], family: Family, tensors: Tensors) -> None:
    """Assigns a checkpoint's tensors to a built backbone.

    Raises:
        InteropError: if a tensor is missing, or a shape does not fit.
    """
    variables = {f"backbone/{each.path.split('/', 1)[1]}": each for each in backbone.trainable_variables}
    tensors = named(family, rules, tensors)
    for path, weight in converted(rules, family, tensors, specs_of(variables), has_output=False):
        variables[path].assign(weight)
        # The next one is made without it.
        del weight


def _surplus(family: Family, rules: Sequence[Rule], tensors: Mapping[str, Any]) -> Iterator[str]:
    used = {name for rule in rules for name in rule.theirs} | {*family.copies, *family.zeros}
    return (name for name in tensors if name not in used and not name.endswith(family.unread))
