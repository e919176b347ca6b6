"""The families that are measured, a line each. Read by all sides, so it imports none of them."""

import dataclasses
import importlib.metadata

FIRTH, KERAS_HUB, TRANSFORMERS, TORCH = "firth", "KerasHub", "transformers", "torch"
# Without XLA and with it, each in a process of its own.
MODEL_GARDENS = MODEL_GARDEN, MODEL_GARDEN_XLA = "Model Garden", "Model Garden XLA"
PREDICTIONS = 20
NEGATIVES = 8192


@dataclasses.dataclass(frozen=True)
class Size:
    """Of all models, and of the batches that they read."""

    layers: int = 4
    width: int = 256
    heads: int = 4
    length: int = 128
    batch: int = 32
    precision: str = "float32"


@dataclasses.dataclass(frozen=True)
class Family:
    """Objective of a family, and the peers that have it.

    Attributes:
        task: `masked`, `replaced`, `permutation`, `causal`, `corruption`, `denoising` or `bidirectional`.
        vocabulary: Pieces, as the published models have; of ELMo's 793,471 words an eighth.
        dropout: Of hidden states and attention, as in its own pre-training.
        peers: Those that have it.
    """

    task: str
    vocabulary: int
    dropout: float
    peers: tuple[str, ...] = (KERAS_HUB, TRANSFORMERS)

    @property
    def has_decoder_beside_encoder(self) -> bool:
        """True if there are two stacks."""
        return self.task in ("corruption", "denoising")


WITH_MODEL_GARDEN = (KERAS_HUB, TRANSFORMERS, *MODEL_GARDENS)
FAMILIES = {
    "elmo": Family("bidirectional", 100_000, 0.1, (TORCH,)),
    "bert": Family("masked", 30_522, 0.1, WITH_MODEL_GARDEN),
    "roberta": Family("masked", 50_265, 0.1),
    "albert": Family("masked", 30_000, 0.0),
    "electra": Family("replaced", 30_522, 0.1, (TRANSFORMERS,)),
    "deberta_v3": Family("masked", 128_100, 0.1),
    "xlnet": Family("permutation", 32_000, 0.1, (TRANSFORMERS,)),
    "gpt2": Family("causal", 50_257, 0.1),
    "llama": Family("causal", 32_000, 0.0),
    "t5": Family("corruption", 32_128, 0.1, WITH_MODEL_GARDEN),
    "t5_1_1": Family("corruption", 32_128, 0.0, WITH_MODEL_GARDEN),
    "bart": Family("denoising", 50_265, 0.1),
}

EMBEDDING_WIDTH = 128  # ALBERT and ELECTRA.


def llama_inner_width(size: Size) -> int:
    """Two thirds of four times the width, rounded up to a multiple of 16."""
    return -(-8 * size.width // 48) * 16


def elmo_cells(size: Size) -> int:
    """Eight times the projection, as in the published models."""
    return 8 * size.width


def without_model_garden() -> str:
    """Returns the reason why Model Garden cannot be measured in this environment, or nothing."""
    try:
        importlib.metadata.version("tf-models-official")
    except importlib.metadata.PackageNotFoundError:
        return "Model Garden is left out: install the extra modelgarden, which the first stack has"
    return ""
