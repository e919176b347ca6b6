"""Settings of the training."""

import math
from collections.abc import Sequence
from typing import Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE, Config
from firth.recipes.training.optimizers import AdamWConfig, AnyOptimizer

# By backend.
_STRATEGIES = {
    "tensorflow": ("none", "mirrored", "multi_worker_mirrored", "tpu"),
    "jax": ("none", "data_parallel", "model_parallel"),
}
# Those whose number of replicas a recipe may say.
_COUNTED = ("mirrored", "data_parallel")


class Stage(Config):
    """Steps on rows of another length, before those of the recipe's own (Devlin et al. 2018, section A.2)."""

    length: int = pydantic.Field(ge=8, le=MAX_SIZE)
    """Tokens of a row, instead of `sequences.length`."""
    steps_fraction: float = pydantic.Field(gt=0.0, lt=1.0)
    """Share of the run's steps."""
    batch_size: int = pydantic.Field(ge=1, le=MAX_SIZE)
    """Rows of a step, over all replicas together."""
    max_predictions: int | None = pydantic.Field(default=None, ge=1)
    """Most predictions of a row, instead of the objective's; null keeps the objective's."""


class Mesh(Config):
    """Devices in rows and columns, which a model is divided among (Shoeybi et al. 2019, "Megatron-LM")."""

    data: int = pydantic.Field(default=1, ge=1, le=4096)
    """Number of parts that the rows of a batch fall into."""
    model: int = pydantic.Field(default=1, ge=1, le=4096)
    """Number of devices that hold a part each of the large weights: of attention by heads, of feed-forward
    layers by their inner width, and of tables by the vocabulary. It divides all three."""


class Training(Config):
    """Steps, batch, precision, distribution and checkpoints."""

    steps: int = pydantic.Field(default=1_000_000, ge=1, lt=2**31)
    """Optimizer steps of the whole run, all stages together."""
    batch_size: int = pydantic.Field(default=256, ge=1, le=MAX_SIZE)
    """Rows of a step, over all replicas together."""
    earlier_stages: tuple[Stage, ...] = ()
    """Stages before the one with rows of `sequences.length`, which takes the rest of the steps. Optimizer and
    learning rate continue from stage to stage."""
    optimizer: AnyOptimizer = AdamWConfig()
    """Optimizer, with the schedule of its learning rate."""
    precision: Literal["float32", "mixed_bfloat16"] = "float32"
    """Keras dtype policy; norms, softmax and losses stay in float32."""
    backend: Literal["tensorflow", "jax"] = "tensorflow"
    """Library that makes the steps: `tensorflow`; or `jax`, in a process of its own, for which firth needs
    its extra `jax`. Rows, masks and dropout are the same, and so are the weights, but for rounding."""
    strategy: Literal[
        "none", "mirrored", "multi_worker_mirrored", "tpu", "data_parallel", "model_parallel"
    ] = "none"
    """Distribution: `none` for one device; `mirrored` for all devices of this machine;
    `multi_worker_mirrored` for those of all processes that TF_CONFIG lists; `tpu` for the cores of a TPU of
    one host. With `backend: jax` there are `none`, `data_parallel` for all devices of this machine, and
    `model_parallel` for those of `mesh`. Each gives the same weights, but for rounding."""
    replicas: int | None = pydantic.Field(default=None, ge=1, le=4096)
    """Number of devices with `mirrored` and `data_parallel`; null takes every device. On a machine without a
    GPU, logical CPUs."""
    mesh: Mesh | None = None
    """Devices of `model_parallel`, `data` times `model` of them; null with every other strategy."""
    gradient_accumulation_steps: int = pydantic.Field(default=1, ge=1, le=4096)
    """Number of parts of a batch whose gradients are computed one after another and summed, so that
    activations take the memory of one part. The result is that of the whole batch, but for rounding; texts
    that are compared with each other, as of `embedding`, are a part's."""
    rematerialisation: Literal["none", "blocks"] = "none"
    """Blocks whose inner states are not kept for the backward pass, but computed a second time in it, with
    the same dropout: `blocks` for all, which takes less memory and about a third more time. The result is the
    same but for rounding."""
    jit_compile: bool = False
    """True if XLA compiles the step on one device; on a `tpu` it always does."""
    flash_attention: bool = False
    """True if attention is computed by the fused kernel that Keras offers on a GPU, which never holds the
    scores: with `backend: jax` and `precision: mixed_bfloat16`, for models whose `attention.dropout` is 0 and
    which add no scores of distances. Rows of more than 1,024 tokens are read as without it."""
    steps_per_execution: int | None = pydantic.Field(default=None, ge=1, le=10_000)
    """Most steps that are made on the device before anything is read from it; they change no result. Such a
    block ends where a checkpoint or a held-out loss is due, and a request to end waits for its end. Null for
    as many as take about a second."""
    checkpoint_every_steps: int = pydantic.Field(default=1_000, ge=1)
    """Steps between two checkpoints; a killed run loses at most this many."""
    log_every_steps: int = pydantic.Field(default=10, ge=1)
    """Steps between two points of the loss curve in TensorBoard and the report."""
    eval_every_steps: int | None = pydantic.Field(default=1_000, ge=1)
    """Steps between two held-out losses of that curve, with samples of what the model predicts; the last step
    has one too. Null for none."""
    eval_rows: int = pydantic.Field(default=256, ge=1)
    """Most rows of the eval split that such a loss is computed on."""

    @pydantic.model_validator(mode="after")
    def _replicas_divide_batch(self) -> "Training":
        if self.replicas and self.strategy not in _COUNTED and self.replicas > 1:
            raise ValueError(f"replicas: {self.replicas} needs strategy: {self._strategies(_COUNTED)}")
        parts = self.gradient_accumulation_steps
        key, replicas = ("mesh.data", self.mesh.data) if self.mesh else ("replicas", self.replicas or 1)
        for batch_size in self.batch_sizes:
            if batch_size % replicas:
                raise ValueError(
                    f"{key}: {replicas} does not divide batch_size: {batch_size}; the nearest number that "
                    f"does is {nearest_divisor(replicas, batch_size)}"
                )
            if batch_size % self.batch_parts:
                rows = f"batch_size: {batch_size}"
                if replicas > 1:
                    rows = f"the {batch_size // replicas} rows of a replica, of {rows}"
                raise ValueError(f"gradient_accumulation_steps: {parts} does not divide {rows}")
        return self

    @pydantic.model_validator(mode="after")
    def _mesh_is_of_strategy(self) -> "Training":
        if self.strategy == "model_parallel" and self.mesh is None:
            raise ValueError("strategy: model_parallel needs mesh, such as {data: 1, model: 2}")
        if self.strategy != "model_parallel" and self.mesh is not None:
            raise ValueError(f"mesh: it needs strategy: model_parallel, not {self.strategy}")
        return self

    @pydantic.model_validator(mode="after")
    def _strategy_is_of_backend(self) -> "Training":
        if self.strategy not in _STRATEGIES[self.backend]:
            raise ValueError(
                f"strategy: {self.strategy} does not work with backend: {self.backend}; "
                f"use {self._strategies(_STRATEGIES[self.backend])}"
            )
        return self

    @pydantic.model_validator(mode="after")
    def _compiles_on_one_device(self) -> "Training":
        if self.jit_compile and self.strategy in ("mirrored", "multi_worker_mirrored"):
            raise ValueError(
                f"jit_compile: true does not work with strategy: {self.strategy}; use none or tpu"
            )
        return self

    @pydantic.model_validator(mode="after")
    def _has_flash_attention(self) -> "Training":
        if self.flash_attention and self.backend != "jax":
            raise ValueError(f"flash_attention: true needs backend: jax, not {self.backend}")
        if self.flash_attention and self.precision != "mixed_bfloat16":
            raise ValueError(f"flash_attention: true needs precision: mixed_bfloat16, not {self.precision}")
        return self

    @pydantic.model_validator(mode="after")
    def _steps_are_left(self) -> "Training":
        earlier = sum(stage.steps_fraction for stage in self.earlier_stages)
        if earlier >= 1.0:
            raise ValueError(f"earlier_stages: their steps_fraction is {earlier:g} together, not below 1")
        return self

    def _strategies(self, among: Sequence[str]) -> str:
        """Returns those of some strategies that the backend has, for an error."""
        *most, last = [each for each in _STRATEGIES[self.backend] if each in among]
        return f"{', '.join(most)} or {last}" if most else last

    @property
    def batch_parts(self) -> int:
        """The number of parts that a batch falls into, as far as the recipe says it."""
        replicas = self.mesh.data if self.mesh else self.replicas or 1
        return replicas * self.gradient_accumulation_steps

    @property
    def devices(self) -> int:
        """The number of devices, as far as the recipe says it."""
        return self.mesh.data * self.mesh.model if self.mesh else self.replicas or 1

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The rows of a step in each stage."""
        return (*(stage.batch_size for stage in self.earlier_stages), self.batch_size)


def nearest_divisor(number: int, *sizes: int) -> int:
    """Returns the number nearest to another that divides some sizes; of two as near, the smaller.

    Example:

    >>> nearest_divisor(5, 12), nearest_divisor(5, 12, 16), nearest_divisor(3, 7)
    (4, 4, 1)
    """
    whole = math.gcd(*sizes)
    divisors = [each for each in range(1, whole + 1) if whole % each == 0]
    return min(divisors, key=lambda each: (abs(each - number), each))


def nearest_multiple(size: int, number: int) -> int:
    """Returns the smallest multiple of a number that is no smaller than a size.

    Example:

    >>> nearest_multiple(50_257, 2), nearest_multiple(30_522, 2)
    (50258, 30522)
    """
    return -(-size // number) * number
