"""Methods that add small layers after the sublayers of each block, and train those and the task's head."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.models.blocks import Activation
from firth.recipes.tuning.method import Method


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
