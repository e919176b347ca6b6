"""How the model is trained."""

from typing import Literal

import pydantic

from firth.recipes.base import Config


class AdamW(Config):
    """AdamW with linear warm-up and linear decay to zero (Loshchilov and Hutter 2017).

    Attributes:
        learning_rate: At the end of the warm-up.
        warmup_steps: Steps from zero to `learning_rate`.
        weight_decay: Not applied to biases and norms.
        gradient_clip_norm: Of the global norm over all gradients; null turns clipping off.
    """

    kind: Literal["adamw"] = "adamw"
    learning_rate: float = pydantic.Field(default=1e-4, gt=0)
    warmup_steps: int = pydantic.Field(default=10_000, ge=0)
    weight_decay: float = pydantic.Field(default=0.01, ge=0)
    beta_1: float = pydantic.Field(default=0.9, ge=0, lt=1)
    beta_2: float = pydantic.Field(default=0.999, ge=0, lt=1)
    epsilon: float = pydantic.Field(default=1e-6, gt=0)
    gradient_clip_norm: float | None = pydantic.Field(default=1.0, gt=0)


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
    optimizer: AdamW = AdamW()
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
