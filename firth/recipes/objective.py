"""What the model learns to predict: one type for each objective."""

from typing import Annotated

import pydantic

from firth.recipes.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.language_models import BidirectionalLM, CausalLM, PrefixLM
from firth.recipes.masking import (
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)

AnyObjective = Annotated[
    MaskedLM
    | SpanMasking
    | ReplacedTokenDetection
    | UniLM
    | PermutationLM
    | CausalLM
    | PrefixLM
    | BidirectionalLM
    | SpanCorruption
    | IidDenoising
    | SalientSpans
    | Denoising,
    pydantic.Field(discriminator="kind"),
]
