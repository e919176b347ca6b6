"""Compares what an exported model says about itself with what a server finds in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from firth.serving.writing.parameter import WITH_PARAMETERS

_DEFAULT = "serving_default"
Tensors = Mapping[str, Mapping[str, Any]]


def description_problems(description: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Yields how a model differs from its description, a sentence each.

    Example:

    >>> text = {"dtype": "string", "shape": ["batch"], "meaning": "text"}
    >>> said = {"signatures": {"embed": {"inputs": {"text": text}, "outputs": {}}}, "other_signatures": {}}
    >>> loaded = {"embed": {"inputs": {"texts": {"dtype": "string", "shape": [None]}}, "outputs": {}}}
    >>> list(description_problems(said, loaded))
    ['embed: the inputs are texts, and text in its description']
    """
    said = _signatures(description)
    for name in found.keys() - said.keys() - {_DEFAULT}:
        yield f"{name}: the description lacks this signature"
    for name, described in said.items():
        if name not in found:
            yield f"{name}: the description has it, and the model lacks this signature"
            continue
        for part in ("inputs", "outputs"):
            yield from _differences(name, part, described[part], found[name][part])


def _signatures(description: Mapping[str, Any]) -> dict[str, Mapping[str, Tensors]]:
    """Returns inputs and outputs of all signatures, those with parameters among them."""
    whole = {**description["signatures"], **description["other_signatures"]}
    for name, described in description["signatures"].items():
        if parameters := described.get("parameters"):
            numbers = {key: {"dtype": each["dtype"], "shape": ["batch"]} for key, each in parameters.items()}
            whole[f"{name}{WITH_PARAMETERS}"] = {
                "inputs": {**described["inputs"], **numbers},
                "outputs": described["outputs"],
            }
    return whole


def _differences(name: str, part: str, said: Tensors, found: Tensors) -> Iterator[str]:
    if said.keys() != found.keys():
        yield f"{name}: the {part} are {', '.join(sorted(found))}, and {', '.join(said)} in its description"
        return
    for key, each in said.items():
        sizes = [axis if isinstance(axis, int) else None for axis in each["shape"]]
        if (each["dtype"], sizes) != (found[key]["dtype"], found[key]["shape"]):
            yield (
                f"{name}: {key} is {found[key]['dtype']} {found[key]['shape']}, and {each['dtype']} {sizes} "
                "in its description"
            )
