"""The methods that a recipe may name."""

from typing import Literal, TypeAlias

from firth.recipes.tuning.method import Method


class Full(Method):
    """All weights are trained."""

    kind: Literal["full"] = "full"


AnyMethod: TypeAlias = Full
