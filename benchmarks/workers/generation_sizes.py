"""The model and the texts of `benchmarks.generation`."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class GenerationSize:
    """A model of GPT-2's shape, and how much it reads and writes; those of GPT-2 small unless told."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    vocabulary: int = 50_257
    positions: int = 1024
    prompt: int = 32
    written: int = 64

    @property
    def parameters_read(self) -> int:
        """Weights that each step reads: the blocks, the last norm, and the table of tokens as the head."""
        block = 12 * self.width**2 + 13 * self.width
        return self.layers * block + 2 * self.width + self.vocabulary * self.width
