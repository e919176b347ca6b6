"""How the model is trained."""

from typing import Literal

import pydantic

from firth.recipes.base import Config
from firth.recipes.optimizers import AdamW, AnyOptimizer


class Training(Config):
    """Steps, batch, precision, distribution and checkpoints.

    Attributes:
        steps: Optimizer steps of the whole run.
        batch_size: Rows of a step, over all replicas together.
        precision: Keras dtype policy; norms, softmax and losses stay in float32.
        strategy: `none` for one device, `mirrored` for all devices of this machine.
        replicas: With `mirrored`, how many; null takes every device. Where there is no GPU, logical CPUs.
        checkpoint_every_steps: A killed run loses at most so many steps.
        log_every_steps: Between two points of the loss curve in TensorBoard and the report.
    """

    steps: int = pydantic.Field(default=1_000_000, ge=1)
    batch_size: int = pydantic.Field(default=256, ge=1)
    optimizer: AnyOptimizer = AdamW()
    precision: Literal["float32", "mixed_bfloat16"] = "float32"
    strategy: Literal["none", "mirrored"] = "none"
    replicas: int | None = pydantic.Field(default=None, ge=1)
    checkpoint_every_steps: int = pydantic.Field(default=1_000, ge=1)
    log_every_steps: int = pydantic.Field(default=10, ge=1)

    @pydantic.model_validator(mode="after")
    def _replicas_divide_batch(self):
        if self.replicas and self.strategy == "none" and self.replicas > 1:
            raise ValueError(f"replicas: {self.replicas} needs strategy: mirrored")
        if self.replicas and self.batch_size % self.replicas:
            raise ValueError(f"replicas: {self.replicas} does not divide batch_size: {self.batch_size}")
        return self
