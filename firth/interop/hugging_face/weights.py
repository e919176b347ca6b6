"""Reads the tensors of a model into ours, and writes them back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.names import named
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.read import Read
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import dtype_name

_SHOWN = 3
_FLOATING = ("F64", "F32", "F16", "BF16")


def read_weights(
    model: BackboneWithHeads, recipe: RunRecipe, family: Family, tensors: Mapping[str, Array]
) -> Read:
    """Assigns a checkpoint's tensors to a built model.

    Tensors of a base model may stand with or without the family's name in front. Heads that the checkpoint
    lacks stay as they were made.

    Args:
        model: Model that `firth.models.build_model` made of the recipe.
        recipe: Recipe of the model.
        family: Family of the checkpoint.
        tensors: Tensors by name.

    Raises:
        InteropError: if a tensor of the backbone is missing, or a shape does not fit.
    """
    variables = weights_by_path(model)
    return _read(variables, family.rules(recipe.model, recipe.goal), family, tensors, has_output=True)


def assign_weights(
    backbone: keras.Model, rules: Iterable[Rule], family: Family, tensors: Mapping[str, Array]
) -> None:
    """Assigns a checkpoint's tensors to a built backbone.

    Args:
        backbone: Backbone of `firth.models.build_backbone`.
        rules: Rules of its weights, by paths that begin with `backbone/`.
        family: Family of the checkpoint.
        tensors: Tensors by name.

    Raises:
        InteropError: if a tensor is missing, or a shape does not fit.
    """
    variables = {f"backbone/{each.path.split('/', 1)[1]}": each for each in backbone.trainable_variables}
    _read(variables, rules, family, tensors, has_output=False)


def _read(
    variables: Mapping[str, keras.Variable],
    rules: Iterable[Rule],
    family: Family,
    tensors: Mapping[str, Array],
    has_output: bool,
) -> Read:
    rules = list(rules)
    tensors = named(family, rules, tensors)
    problems, stored = list(_not_said(family, rules, tensors) if has_output else ()), {}
    for rule in rules:
        missing = [name for name in rule.theirs if name not in tensors]
        if missing and rule.ours.startswith("backbone/"):
            problems.append(f"no tensor {missing[0]}, which {rule.ours} is made of")
        elif not missing:
            given = [tensors[name] for name in rule.theirs]
            problem = _assign(rule, variables[rule.ours], given)
            problems += [problem] if problem else []
            stored[rule.ours] = [dtype_name(each.dtype) for each in given]
            # The next rule's are read without these.
            del given
    fresh = tuple(path for path in variables if path not in stored)
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise InteropError("; ".join(problems[:_SHOWN]) + more)
    return Read(fresh, tuple(_surplus(family, rules, tensors)), stored)


def _surplus(family: Family, rules: Iterable[Rule], tensors: Mapping[str, Array]) -> Iterator[str]:
    used = {name for rule in rules for name in rule.theirs} | {*family.copies, *family.zeros}
    return (name for name in tensors if name not in used and not name.endswith(family.unread))


def _not_said(family: Family, rules: Iterable[Rule], tensors: Mapping[str, Array]) -> Iterator[str]:
    """Yields which tensors say what the model cannot: an output that is not tied, a bias that is not zero."""
    used = {name for rule in rules for name in rule.theirs}
    for copy, table in family.copies.items():
        both_there = copy not in used and copy in tensors and table in tensors
        if both_there and not np.array_equal(tensors[copy], tensors[table]):
            yield f"{copy} is not {table}, to which it is tied here"
    for name in family.zeros:
        if name in tensors and np.any(tensors[name]):
            yield f"{name} is not zero, and cannot be expressed here"


def _assign(rule: Rule, variable: keras.Variable, given: Sequence[Array]) -> str | None:
    """Assigns a weight; returns what does not fit."""
    if raw := [name for name, each in zip(rule.theirs, given) if dtype_name(each.dtype) not in _FLOATING]:
        return f"{raw[0]} holds no floating-point numbers"
    shapes = ", ".join(f"{name} {list(each.shape)}" for name, each in zip(rule.theirs, given))
    if len({each.dtype for each in given}) > 1:
        # NumPy joins no bfloat16 with float16; this one holds both.
        wide = np.float64 if any(each.dtype == np.float64 for each in given) else np.float32
        given = [each.astype(wide) for each in given]
    try:
        weight = rule.read(*given)
    except (ValueError, IndexError):
        return f"{shapes} do not fit together"
    if tuple(weight.shape) != tuple(variable.shape):
        return f"{shapes} gives {list(weight.shape)}, {rule.ours} is {list(variable.shape)}"
    ours = weight.astype(variable.dtype, copy=False)
    if not np.isfinite(ours).all():
        return f"{', '.join(rule.theirs)} holds a number that is not finite"
    if ours is not weight and not np.array_equal(ours, weight):
        return f"{', '.join(rule.theirs)} of {weight.dtype} would be rounded to {variable.dtype}"
    variable.assign(ours)
    return None


def written_tensors(model: BackboneWithHeads, recipe: RunRecipe, family: Family) -> dict[str, Any]:
    """Returns a model's weights as the tensors of a checkpoint with heads, by name.

    Args:
        model: Model that `firth.models.build_model` made of the recipe.
        recipe: Recipe of the model.
        family: Family of the model.
    """
    variables = weights_by_path(model)
    made: dict[str, Any] = {}
    for rule in family.rules(recipe.model, recipe.goal):
        weight = keras.ops.convert_to_numpy(variables[rule.ours].value)
        made |= dict(zip(rule.theirs, rule.write(weight), strict=True))
    return made
