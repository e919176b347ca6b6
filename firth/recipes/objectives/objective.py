"""All objectives, one type for each."""

from typing import Annotated

import pydantic

from firth.recipes.objectives.denoising import AnyDenoising
from firth.recipes.objectives.language_models import AnyLanguageModel
from firth.recipes.objectives.masking import AnyMasking
from firth.recipes.objectives.permutation import PermutationLM

AnyObjective = Annotated[
    AnyMasking | PermutationLM | AnyLanguageModel | AnyDenoising,
    pydantic.Field(discriminator="kind"),
]
_ANY_OBJECTIVE: pydantic.TypeAdapter[AnyObjective] = pydantic.TypeAdapter(AnyObjective)


def objective_from_json(text: str) -> AnyObjective:
    """Returns the part that `to_json` wrote, of whichever kind.

    Args:
        text: JSON of an objective's type.

    Raises:
        pydantic.ValidationError: if the text does not describe an objective.

    Example:

    >>> from firth.recipes.objectives.denoising import SpanCorruption
    >>> objective_from_json(SpanCorruption(noise_density=0.3).to_json()).noise_density
    0.3
    """
    return _ANY_OBJECTIVE.validate_json(text, strict=True)
