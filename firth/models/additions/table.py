"""The functions that make what methods add to a model and do not merge, by their kind in a recipe."""

from collections.abc import Callable
from typing import Any, TypeAlias

from firth.models.additions.bottleneck import add_bottlenecks
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.method import Method

# From a built model and the recipe's method.
Extend: TypeAlias = Callable[[BackboneWithHeads, Any], None]

ADDITIONS: dict[str, Extend] = {
    "houlsby": add_bottlenecks,
    "pfeiffer": add_bottlenecks,
}


def extend(model: BackboneWithHeads, method: Method) -> None:
    """Adds what a method adds that does not merge, unless the model holds it already.

    Args:
        model: Model, built; one that `firth.models.build_model` made of a recipe with the method holds it.
        method: Method whose `extends_model` is true.

    Raises:
        TuningError: if it does not fit the model.
    """
    if not model.added.held:
        ADDITIONS[method.kind](model, method)
