"""All objectives, one type for each."""

from typing import Annotated, Any

import pydantic

from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.objectives.denoising import AnyDenoising
from firth.recipes.objectives.language_models import AnyLanguageModel, PermutationLM
from firth.recipes.objectives.masking import AnyMasking

AnyObjective = Annotated[
    AnyMasking | PermutationLM | AnyLanguageModel | AnyDenoising,
    pydantic.Field(discriminator="kind"),
]
_ANY_OBJECTIVE: pydantic.TypeAdapter[AnyObjective] = pydantic.TypeAdapter(AnyObjective)


def objective_kinds(architecture: str) -> list[str]:
    """Returns the kinds of objective that a model of an architecture can learn.

    Example:

    >>> objective_kinds("two_streams")
    ['permutation_lm']
    """
    types = objective_types()
    return [kind for kind, each in types.items() if each.model_architecture == architecture]


def objective_types() -> dict[str, Any]:
    """Returns the types of objectives by their kinds.

    Example:

    >>> objective_types()["masked_lm"].__name__
    'MaskedLM'
    """
    types: list[Any] = configs_in(AnyObjective)
    return {kind: each for each in types for kind in kinds_of(each)}


def objective_from_json(text: str) -> AnyObjective:
    """Returns the part that `to_json` wrote, of whichever kind.

    Raises:
        pydantic.ValidationError: if the text does not describe an objective.

    Example:

    >>> from firth.recipes.objectives.denoising import SpanCorruption
    >>> objective_from_json(SpanCorruption(noise_density=0.3).to_json()).noise_density
    0.3
    """
    return _ANY_OBJECTIVE.validate_json(text, strict=True)
