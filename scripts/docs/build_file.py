"""Targets of BUILD: the targets and the distributions that each may import."""

import ast
from typing import NamedTuple


class Target(NamedTuple):
    """A `py_library` of BUILD.

    Attributes:
        targets: Names of the targets that it may import.
        distributions: Names of the distributions that it may import.
    """

    targets: set[str]
    distributions: set[str]


def read_targets(text: str) -> dict[str, Target]:
    """Returns the targets of a BUILD file by name. Starlark parses as Python.

    Args:
        text: The content of the file.

    Example:

    >>> read_targets('py_library(name = "models", deps = [":layers", "@pypi//keras"])')
    {'models': Target(targets={'layers'}, distributions={'keras'})}
    """
    targets = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "py_library":
            arguments = {keyword.arg: keyword.value for keyword in node.keywords}
            deps = ast.literal_eval(arguments["deps"]) if "deps" in arguments else []
            inner = {dep[1:] for dep in deps if dep.startswith(":")}
            outer = {dep.removeprefix("@pypi//") for dep in deps if dep.startswith("@pypi//")}
            targets[ast.literal_eval(arguments["name"])] = Target(inner, outer)
    return targets
