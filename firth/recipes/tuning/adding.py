"""Methods that add something to a model, and train that and the task's heads."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.models.blocks import Activation
from firth.recipes.tuning.method import Method

_AnyPatterns = tuple[Annotated[str, pydantic.Field(min_length=1)], ...]
Patterns = Annotated[_AnyPatterns, pydantic.Field(min_length=1)]
Rank = Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
Dropped = Annotated[float, pydantic.Field(ge=0.0, le=0.99)]
_QUERY_AND_VALUE = ("*attention/query", "*attention/value")
_Steps = Annotated[int, pydantic.Field(ge=0, le=MAX_SIZE)]
_Share = Annotated[float, pydantic.Field(gt=0.0, lt=1.0)]


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


class AdaLoRA(AddingMethod):
    """The difference of a projection is a product of two small matrices and a diagonal, which is pruned.

    `W x + (alpha / initial_rank) P E Q x` (Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for
    Parameter-Efficient Fine-Tuning", section 3). All diagonals together begin with `initial_rank` entries for
    each projection; those that matter least are set to zero during the run, until `target_rank` are left on
    average. E starts at zero, so that the model starts as its base. Defaults are those of peft, and the
    paper's targets, all matrices of a block, and a learning rate between those of its tasks (appendix D).
    """

    learning_rate: ClassVar[float | None] = 1e-3

    kind: Literal["adalora"] = "adalora"
    targets: Patterns = (
        "*attention/query",
        "*attention/key",
        "*attention/value",
        "*attention/output",
        "feed_forward/*",
    )
    """Patterns of the projections; see `LoRA`."""
    initial_rank: Rank = 12
    """Entries of each diagonal at the start."""
    target_rank: Rank = 8
    """Entries of a diagonal that are left at the end, on average."""
    alpha: Annotated[float, pydantic.Field(gt=0.0)] = 8.0
    """Number that the product is multiplied by after it is divided by the initial rank."""
    dropout: Dropped = 0.0
    """Share of what Q reads that is dropped in training."""
    initial_steps: _Steps = 0
    """Steps at the beginning in which no entry is taken away."""
    final_steps: _Steps = 0
    """Steps at the end in which those that are left stay."""
    steps_between: Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)] = 1
    """Steps from one choice of entries to the next."""
    smoothing: _Share = 0.85
    """Share of a weight's sensitivity that stays from step to step."""
    uncertainty_smoothing: _Share = 0.85
    """Share of its uncertainty that stays."""
    orthogonality: Annotated[float, pydantic.Field(ge=0.0)] = 0.5
    """Factor of the mean penalty of P and Q for not being orthogonal, in the loss."""

    @pydantic.model_validator(mode="after")
    def _ranks_fall(self) -> "AdaLoRA":
        if self.target_rank > self.initial_rank:
            raise ValueError(
                f"target_rank: {self.target_rank} is greater than initial_rank: {self.initial_rank}"
            )
        return self

    def steps_conflicts(self, steps: int) -> Iterator[str]:
        """Yields a line if no step is left in which the number of entries may fall."""
        if self.initial_steps >= steps - self.final_steps:
            yield (
                f"method.initial_steps: {self.initial_steps} and method.final_steps: {self.final_steps} "
                f"leave none of the {steps} steps of this run to take ranks away in"
            )


class BottleneckMethod(Method):
    """A method that adds bottleneck adapters, small layers with an activation, to each block.

    They do not merge into a projection, so they stay a part of the model that is saved and served.
    """

    adds: ClassVar[bool] = True
    sublayers: ClassVar[tuple[str, ...]] = ()
    """Sublayers of a block that an adapter follows."""
    reads_sum: ClassVar[bool] = False
    """True if an adapter reads the sublayer's sum with the residual, after its norm if one follows, and not
    what the sublayer gives."""

    activation: Activation
    """Activation of the layer between."""
    norms: bool
    """True if the norms of the sublayers are trained."""

    def width_in(self, width: int) -> int:
        """Returns the width of the layer between."""
        raise NotImplementedError


class Houlsby(BottleneckMethod):
    """Two adapters in each block, after the attention and after the feed-forward layer, are trained.

    Houlsby et al. 2019, "Parameter-Efficient Transfer Learning for NLP", section 2.1. An adapter reads what
    the sublayer gives, and adds `f(y D) U` to it before the residual is added. U starts at zero, so that the
    model starts as its base. The norms of these sublayers are trained too, as in the paper. Its learning rate
    is the middle one of the three that the paper tried (section 3.1).
    """

    kind: Literal["houlsby"] = "houlsby"
    sublayers: ClassVar[tuple[str, ...]] = ("attention", "feed_forward")
    learning_rate: ClassVar[float | None] = 3e-4
    bottleneck: Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)] = 64
    """Columns of D; the paper's best are 8 to 256, and 64 over all tasks."""
    activation: Activation = "gelu"
    """Activation f."""
    norms: bool = True
    """True if the norms of the sublayers are trained."""

    def width_in(self, width: int) -> int:
        """Returns `bottleneck`."""
        return self.bottleneck

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line if the layer between is wider than the hidden states."""
        yield from super().conflicts(model)
        if self.bottleneck > model.width:
            yield (
                f"method.bottleneck: {self.bottleneck}, but the hidden states of each block are of the "
                f"base's width, {model.width}; {model.width} is the greatest that works"
            )


class Pfeiffer(BottleneckMethod):
    """One adapter in each block, after the feed-forward layer, is trained.

    Pfeiffer et al. 2021, "AdapterFusion: Non-Destructive Task Composition for Transfer Learning", appendix A.
    It reads the sum of what the feed-forward layer gives with the residual, after the norm where one follows,
    and adds `f(z D) U` to what that layer gives. U starts at zero, so that the model starts as its base. Its
    learning rate is the paper's.
    """

    kind: Literal["pfeiffer"] = "pfeiffer"
    sublayers: ClassVar[tuple[str, ...]] = ("feed_forward",)
    reads_sum: ClassVar[bool] = True
    learning_rate: ClassVar[float | None] = 1e-4
    reduction_factor: Annotated[float, pydantic.Field(ge=1.0)] = 16.0
    """Width of the hidden states as a multiple of the columns of D."""
    activation: Activation = "relu"
    """Activation f."""
    norms: bool = False
    """True if the norms of the feed-forward layers are trained."""

    def width_in(self, width: int) -> int:
        """Returns the width of the hidden states divided by the factor, rounded down, and at least 1."""
        return max(1, int(width / self.reduction_factor))
