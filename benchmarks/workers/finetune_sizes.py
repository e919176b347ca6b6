"""The size of the models and batches of `benchmarks.finetune`."""

import dataclasses

VOCABULARY = 30_522


@dataclasses.dataclass(frozen=True)
class FineTuneSize:
    """The size of both models and of the batches that they read, and what of the models is trained."""

    layers: int = 6
    width: int = 384
    heads: int = 12
    examples: int = 32
    precision: str = "float32"
    method: str = "full"
