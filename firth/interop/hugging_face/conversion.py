"""Tensors of a checkpoint become our weights, one by one, by the rules of its family."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from firth.interop.arrays import all_finite, holds_exactly
from firth.interop.errors import InteropError
from firth.interop.hugging_face.checkpoint.tensors import Tensors
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.rules import Array, Rule
from firth.recipes.base.errors import first_of
from firth.storage.tensor_files import DTYPES, TensorSpec

_FLOATING = ("F64", "F32", "F16", "BF16")


def converted(
    rules: Sequence[Rule], family: Family, tensors: Tensors, specs: Mapping[str, TensorSpec], has_output: bool
) -> Iterator[tuple[str, Array]]:
    """Yields our weights by path, each made when it is asked for, of which none is kept."""
    problems = list(_not_said(family, rules, tensors) if has_output else ())
    begun = {_part(rule) for rule in rules if all(name in tensors for name in rule.theirs)}
    for rule in rules:
        missing = [name for name in rule.theirs if name not in tensors]
        # Of a head, all is fresh or nothing.
        if missing and (rule.ours.startswith("backbone/") or _part(rule) in begun):
            problems.append(f"no tensor {missing[0]}, which {rule.ours} is made of")
        elif not missing:
            try:
                yield rule.ours, _weight(rule, tensors, specs[rule.ours])
            except _UnfitError as error:
                problems.append(str(error))
    if problems:
        raise InteropError(first_of(problems, separator="; "))


def _part(rule: Rule) -> str:
    """Returns the head that a weight is of."""
    return "/".join(rule.ours.split("/")[:2])


class _UnfitError(Exception):
    """Tensors that do not make a weight."""


def _not_said(family: Family, rules: Sequence[Rule], tensors: Tensors) -> Iterator[str]:
    """Yields which tensors say what the model cannot: an output that is not tied, a bias that is not zero."""
    used = {name for rule in rules for name in rule.theirs}
    for copy, table in family.copies.items():
        both_there = copy not in used and copy in tensors and table in tensors
        if both_there and not tensors.are_same(copy, table):
            yield f"{copy} is not {table}, to which it is tied here"
    for name in family.zeros:
        if name in tensors and any(part.any() for part in tensors.parts(name)):
            yield f"{name} is not zero, and cannot be expressed here"


def _weight(rule: Rule, tensors: Tensors, spec: TensorSpec) -> Array:
    names = ", ".join(rule.theirs)
    stored = {name: tensors.spec(name).dtype for name in rule.theirs}
    given = [tensors[name] for name in rule.theirs]
    if raw := [name for name, dtype in stored.items() if dtype not in _FLOATING]:
        raise _UnfitError(f"{raw[0]} holds no floating-point numbers")
    if len(set(stored.values())) > 1:
        # NumPy joins no bfloat16 with float16; this one holds both.
        wide = np.float64 if "F64" in stored.values() else np.float32
        given = [each.astype(wide) for each in given]
    shapes = ", ".join(f"{name} {list(each.shape)}" for name, each in zip(rule.theirs, given))
    try:
        weight = rule.read(*given)
    except (ValueError, IndexError):
        raise _UnfitError(f"{shapes} do not fit together") from None
    if tuple(weight.shape) != spec.shape:
        raise _UnfitError(f"{shapes} gives {list(weight.shape)}, {rule.ours} is {list(spec.shape)}")
    ours = weight.astype(DTYPES[spec.dtype], copy=False)
    if not all_finite(ours):
        raise _UnfitError(f"{names} holds a number that is not finite")
    if not holds_exactly(ours, weight):
        raise _UnfitError(f"{names} of {weight.dtype} would be rounded to {ours.dtype}")
    return ours


def stored_dtypes(rules: Sequence[Rule], tensors: Tensors) -> dict[str, list[str]]:
    """Returns the dtypes of the tensors that each of our weights is made of, by its path."""
    there = (rule for rule in rules if all(name in tensors for name in rule.theirs))
    return {rule.ours: [tensors.spec(name).dtype for name in rule.theirs] for rule in there}
