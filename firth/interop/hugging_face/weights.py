"""Reads the tensors of a model into ours, and writes them back."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import keras

from firth.interop.errors import InteropError
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.read import Read
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.run.run_recipe import RunRecipe

_SHOWN = 3


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
    return _read(variables, family.rules(recipe.model, recipe.goal), family, tensors)


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
    _read(variables, rules, family, tensors)


def _read(
    variables: Mapping[str, keras.Variable],
    rules: Iterable[Rule],
    family: Family,
    tensors: Mapping[str, Array],
) -> Read:
    rules, problems, read = _found(rules, family, tensors), [], set()
    for rule in rules:
        if any(name not in tensors for name in rule.theirs):
            continue
        problem = _assign(rule, variables[rule.ours], tensors)
        problems += [problem] if problem else []
        read.add(rule.ours)
    fresh = tuple(path for path in variables if path not in read)
    problems += [f"no tensor for {path}" for path in fresh if path.startswith("backbone/")]
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise InteropError("; ".join(problems[:_SHOWN]) + more)
    used = {name for rule in rules for name in rule.theirs}
    surplus = (name for name in tensors if name not in used and not name.endswith(family.unread))
    return Read(fresh, tuple(surplus))


def _found(rules: Iterable[Rule], family: Family, tensors: Mapping[str, Array]) -> list[Rule]:
    """Returns the rules with the names that the checkpoint has: a base model's lack the family's name."""
    prefix = f"{family.base}."
    if any(name.startswith(prefix) for name in tensors):
        return list(rules)
    return [
        dataclasses.replace(rule, theirs=tuple(name.removeprefix(prefix) for name in rule.theirs))
        for rule in rules
    ]


def _assign(rule: Rule, variable: keras.Variable, tensors: Mapping[str, Array]) -> str | None:
    """Assigns a weight; returns what does not fit."""
    given = [tensors[name] for name in rule.theirs]
    shapes = ", ".join(f"{name} {list(each.shape)}" for name, each in zip(rule.theirs, given))
    try:
        weight = rule.read(*given)
    except ValueError:
        return f"{shapes} do not fit together"
    if tuple(weight.shape) != tuple(variable.shape):
        return f"{shapes} gives {list(weight.shape)}, {rule.ours} is {list(variable.shape)}"
    variable.assign(weight)
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
