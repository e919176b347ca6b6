"""The models and the texts of `benchmarks.generation`."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class GenerationSize:
    """A published shape of a family, and how much it reads and writes.

    Attributes:
        family: Family, by which each library's worker knows its class.
        preset: firth's preset, of which the shape is changed.
        layers: Blocks of the stack that writes, and as many of an encoder.
        feed_forward: Width between the two layers of a block.
        positions: Rows of the table of positions; most tokens of a row where there is no such table.
        sentinels: Tokens of the vocabulary that stand for spans.
        has_encoder: Whether an encoder reads the prompt.
        left_out: Libraries that have no model of the family that writes.
        prompt: Tokens of each prompt.
        written: Tokens written after each.
    """

    family: str = "gpt2"
    preset: str = "gpt2_small"
    layers: int = 12
    width: int = 768
    heads: int = 12
    feed_forward: int = 3072
    vocabulary: int = 50_257
    positions: int = 1024
    sentinels: int = 0
    has_encoder: bool = False
    left_out: tuple[str, ...] = ()
    prompt: int = 32
    written: int = 64

    @property
    def parameters_read(self) -> int:
        """Weights that each step reads: the matrices of the blocks, and the table of tokens as the head.

        Keys and values of an encoder's states are made once, so that of the attention to them two matrices
        are left. Biases and norms are less than a hundredth.
        """
        attention = (4 + 2 * self.has_encoder) * self.width**2
        block = attention + 2 * self.width * self.feed_forward
        return self.layers * block + self.vocabulary * self.width


SIZES: Mapping[str, GenerationSize] = {
    "gpt2_small": GenerationSize(),
    "t5_small": GenerationSize(
        family="t5",
        preset="t5_small",
        layers=6,
        width=512,
        heads=8,
        feed_forward=2048,
        vocabulary=32_128,
        positions=512,
        sentinels=100,
        has_encoder=True,
        left_out=("keras_hub",),
    ),
    "bart_base": GenerationSize(
        family="bart", preset="bart_base", layers=6, vocabulary=50_265, has_encoder=True
    ),
}
