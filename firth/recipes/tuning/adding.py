"""Methods that add something to a model, and train that and the task's head."""

from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.tuning.method import Method

_AnyPatterns = tuple[Annotated[str, pydantic.Field(min_length=1)], ...]
Patterns = Annotated[_AnyPatterns, pydantic.Field(min_length=1)]
Rank = Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
Dropped = Annotated[float, pydantic.Field(ge=0.0, le=0.99)]
_QUERY_AND_VALUE = ("*attention/query", "*attention/value")


class AddingMethod(Method):
    """A method that adds something to projections of the backbone, which itself stays as it is.

    What is added is saved alone, and becomes a part of the weights that it is added to in the model that is
    saved and served, which is as large and as fast as its base.
    """

    adds: ClassVar[bool] = True
    merges: ClassVar[bool] = True


class LoRA(AddingMethod):
    """The difference of a projection from what it was is a product of two small matrices, which is trained.

    `W x + (alpha / rank) B A x` (Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models",
    section 4.1). A starts at random and B at zero, so that the model starts as its base. Defaults are the
    paper's targets, and its rank, alpha and learning rate for RoBERTa (appendix D.2, table 9: alpha of the
    large one; the highest of the rates); it adapts no other weights.
    """

    learning_rate: ClassVar[float | None] = 5e-4

    kind: Literal["lora"] = "lora"
    targets: Patterns = _QUERY_AND_VALUE
    """Patterns of the projections, with `*` for any characters: of a whole path, or of its end after a slash.
    Projections are `query`, `key`, `value` and `output` of an attention, and `inner`, `gate` and `outer` of a
    feed-forward layer, such as `encoder/block_0/attention/query`."""
    rank: Rank = 8
    """Rows of A and columns of B."""
    alpha: Annotated[float, pydantic.Field(gt=0.0)] = 16.0
    """Number that the product is multiplied by after it is divided by the rank."""
    rank_stabilised: bool = False
    """True if it is divided by the root of the rank (Kalajdzievski 2023, "A Rank Stabilization Scaling Factor
    for Fine-Tuning with LoRA", section 3)."""
    dropout: Dropped = 0.0
    """Share of what A reads that is dropped in training."""


class IA3(AddingMethod):
    """Keys, values and the inner states of feed-forward layers are multiplied by vectors, which are trained.

    Liu et al. 2022, "Few-Shot Parameter-Efficient Fine-Tuning is Better and Cheaper than In-Context
    Learning", section 3.3. The vectors start at one, so that the model starts as its base. Defaults are the
    paper's places and its learning rate (section 3.5).
    """

    learning_rate: ClassVar[float | None] = 3e-3

    kind: Literal["ia3"] = "ia3"
    targets: _AnyPatterns = ("*attention/key", "*attention/value")
    """Patterns of the projections whose output is multiplied, its bias included; see `LoRA`. They may be left
    empty where `input_targets` are not."""
    input_targets: _AnyPatterns = ("feed_forward/outer",)
    """Patterns of the projections whose input is multiplied; no projection is both."""

    @pydantic.model_validator(mode="after")
    def _some_are_named(self) -> "IA3":
        if not (self.targets or self.input_targets):
            raise ValueError("targets and input_targets are empty, so nothing would be added")
        return self


class LoHa(AddingMethod):
    """The difference of a projection is a Hadamard product of two products of small matrices.

    `W x + (alpha / rank) ((B1 A1) * (B2 A2)) x` (Hyeon-Woo et al. 2022, "FedPara: Low-Rank Hadamard Product
    for Communication-Efficient Federated Learning", section 2.2), added to the base as in LyCORIS and peft.
    A2 starts at zero, so that the model starts as its base. The paper has no adapters: rank and alpha are
    those of peft, and the learning rate is that of LoRA.
    """

    learning_rate: ClassVar[float | None] = LoRA.learning_rate

    kind: Literal["loha"] = "loha"
    targets: Patterns = _QUERY_AND_VALUE
    """Patterns of the projections; see `LoRA`."""
    rank: Rank = 8
    """Rank of each of the two products; that of the difference is up to its square."""
    alpha: Annotated[float, pydantic.Field(gt=0.0)] = 8.0
    """Number that the difference is multiplied by after it is divided by the rank."""
