"""Tables of the additions that do not merge, by the kind of method in a recipe."""

from collections.abc import Callable
from typing import Any, TypeAlias

from firth.models.additions.addition_places import places_of
from firth.models.additions.bottleneck import add_bottlenecks
from firth.models.additions.multitask_prompt import add_multitask_prompt
from firth.models.additions.prefix import add_prefixes
from firth.models.additions.prompt import add_prompt
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.method import Method

# From a built model and the recipe's method.
Extend: TypeAlias = Callable[[BackboneWithHeads, Any], None]

ADDITIONS: dict[str, Extend] = {
    "houlsby": add_bottlenecks,
    "pfeiffer": add_bottlenecks,
    "prefix_tuning": add_prefixes,
    "p_tuning_v2": add_prefixes,
    "prompt_tuning": add_prompt,
    "p_tuning": add_prompt,
    "multitask_prompt_tuning": add_multitask_prompt,
}
"""Functions that add layers or vectors to a built model, by the kind of a method that does not merge.

Each gets the model and the recipe's method.
"""


def extend_model(model: BackboneWithHeads, method: Method) -> None:
    """Adds a method's additions that do not merge, unless the model holds them already.

    Raises:
        TuningError: if it does not fit the model.
    """
    if not model.added.held:
        ADDITIONS[method.kind](model, method)


def replace_training_additions(model: BackboneWithHeads, method: Method) -> None:
    """Replaces additions that only training needs, such as a network, by the values that they make."""
    if method.kept == method:
        return
    places = places_of(model)
    trained = {place.path: place.layer.addition(place.name) for place in places}
    for place in places:
        place.layer.extend(place.name, None)
    model.added.held.clear()
    ADDITIONS[method.kind](model, method.kept)
    for place in places:
        if (addition := place.layer.addition(place.name)) is not None:
            addition.take(trained[place.path])
