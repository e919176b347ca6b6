"""AdaLoRA: LoRA whose ranks are given to the projections where they matter."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.tuning.adding import AddingMethod, Dropped, Patterns, Rank

_Steps = Annotated[int, pydantic.Field(ge=0, le=MAX_SIZE)]
_Share = Annotated[float, pydantic.Field(gt=0.0, lt=1.0)]


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
