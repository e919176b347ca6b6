"""Methods that add something to a model, and train that and the task's head."""

from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.tuning.method import Method

Patterns = Annotated[tuple[Annotated[str, pydantic.Field(min_length=1)], ...], pydantic.Field(min_length=1)]
Rank = Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
Dropped = Annotated[float, pydantic.Field(ge=0.0, le=0.99)]
_QUERY_AND_VALUE = ("*attention/query", "*attention/value")


class AddingMethod(Method):
    """A method that adds something to projections of the backbone, which itself stays as it is.

    What is added is saved alone, and becomes a part of the weights that it is added to in the model that is
    saved and served, which is as large and as fast as its base.
    """

    adds: ClassVar[bool] = True


class LoRA(AddingMethod):
    """The difference of a projection from what it was is a product of two small matrices, which is trained.

    `W x + (alpha / rank) B A x` (Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models",
    section 4.1). A starts at random and B at zero, so that the model starts as its base. Defaults are the
    paper's targets and its rank for RoBERTa and GPT-2; it adapts no other weights.

    Attributes:
        targets: Patterns of the projections, with `*` for any characters: of a whole path, or of its end
            after a slash. Projections are `query`, `key`, `value` and `output` of an attention, and `inner`,
            `gate` and `outer` of a feed-forward layer, such as `encoder/block_0/attention/query`.
        rank: Rows of A and columns of B.
        alpha: Number that the product is multiplied by after it is divided by the rank.
        rank_stabilised: Whether it is divided by the root of the rank (Kalajdzievski 2023, "A Rank
            Stabilization Scaling Factor for Fine-Tuning with LoRA", section 3).
        dropout: Share of what A reads that is dropped in training.
    """

    kind: Literal["lora"] = "lora"
    targets: Patterns = _QUERY_AND_VALUE
    rank: Rank = 8
    alpha: Annotated[float, pydantic.Field(gt=0.0)] = 16.0
    rank_stabilised: bool = False
    dropout: Dropped = 0.0
