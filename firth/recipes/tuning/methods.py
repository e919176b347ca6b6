"""The methods that a recipe may name."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.tuning.adding import IA3, AdaLoRA, Houlsby, LoHa, LoRA, Pfeiffer
from firth.recipes.tuning.method import Method
from firth.recipes.tuning.prompts import (
    MultitaskPromptTuning,
    PrefixTuning,
    PromptTuning,
    PTuning,
    PTuningV2,
)


class Full(Method):
    """All weights are trained."""

    kind: Literal["full"] = "full"


class Head(Method):
    """The task's head is trained, on the features of a backbone that stays as it is."""

    kind: Literal["head"] = "head"


class LastLayers(Method):
    """The last layers of the backbone and the task's head are trained; embeddings stay as they are."""

    kind: Literal["last_layers"] = "last_layers"
    layers: Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
    """Number of layers that are trained. Layers that share their weights are one; encoder and decoder each
    have this many."""

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line if the model has fewer layers with weights of their own."""
        yield from super().conflicts(model)
        if self.layers > model.own_layers:
            yield (
                f"method.layers: {self.layers}, but model.kind: {model.kind} has {model.own_layers} with "
                "weights of their own; method.kind: full trains the embeddings too"
            )


class Discriminative(Method):
    """All weights are trained, each layer at a lower rate than the layer above it.

    Howard and Ruder 2018, "Universal Language Model Fine-tuning for Text Classification", section 3.2; also
    known as layer-wise decay of the learning rate.
    """

    kind: Literal["discriminative"] = "discriminative"
    decay: Annotated[float, pydantic.Field(gt=0.0, le=1.0)] = 0.8
    """Rate of a layer, as a share of the rate of the layer above it. The task's head has the optimizer's own
    rate, the last layer this share of it, and so on down to the embeddings. The paper divides by 2.6, a decay
    of 0.385, in a model of three layers; of 12 to 24 layers 0.65 to 0.95 are usual."""


class GradualUnfreezing(Method):
    """The task's head is trained in the first epoch, and with each epoch one layer more; embeddings are last.

    Howard and Ruder 2018, "Universal Language Model Fine-tuning for Text Classification", section 3.3. In a
    run of fewer epochs than layers, the lower ones stay as they are.
    """

    kind: Literal["gradual_unfreezing"] = "gradual_unfreezing"


AnyMethod = Annotated[
    Full
    | Head
    | LastLayers
    | Discriminative
    | GradualUnfreezing
    | LoRA
    | AdaLoRA
    | LoHa
    | IA3
    | Houlsby
    | Pfeiffer
    | PrefixTuning
    | PTuningV2
    | PromptTuning
    | PTuning
    | MultitaskPromptTuning,
    pydantic.Field(discriminator="kind"),
]


def method_types() -> dict[str, type[Method]]:
    """Returns the types of methods by their kinds.

    Example:

    >>> method_types()["lora"].__name__
    'LoRA'
    """
    types: list[Any] = configs_in(AnyMethod)
    return {kind: each for each in types for kind in kinds_of(each)}
