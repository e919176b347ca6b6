"""The facts that every model states, and the units that models are counted in."""

import dataclasses
from typing import TYPE_CHECKING, ClassVar

# Bytes of a number in float32.
FLOAT32 = 4


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Lengths of one row.

    Attributes:
        input: Tokens that the encoder, or the only stack, reads.
        target: Tokens that a decoder next to an encoder reads; 0 without one.
        selected: Predictions at chosen positions; 0 if every position predicts.
        documents: Most documents of a row.
    """

    input: int
    target: int = 0
    selected: int = 0
    documents: int = 1


@dataclasses.dataclass(frozen=True)
class Work:
    """Multiply-adds of one row, and those that a step needs once for all its rows.

    Attributes:
        row: Multiply-adds of one row.
        step: Multiply-adds of a step that do not depend on its number of rows.
    """

    row: int
    step: int = 0


@dataclasses.dataclass(frozen=True)
class Activations:
    """Bytes of a row's activations that a training step holds for its backward pass.

    Attributes:
        blocks: Bytes that all blocks keep.
        inputs: Bytes of the inputs of all blocks, which are kept where blocks are computed again.
        block: Bytes that the largest block keeps.
        gradients: Bytes of the gradients that the backward pass of a block holds at once.
    """

    blocks: int = 0
    inputs: int = 0
    block: int = 0
    gradients: int = 0


def dense(inputs: int, outputs: int, bias: bool = True) -> int:
    """Returns the parameters of a dense layer."""
    return inputs * outputs + (outputs if bias else 0)


class ModelFacts:
    """The facts that data, counting and serving ask a model for; none asks which model it is."""

    architecture: ClassVar[str] = ""
    """Inputs and outputs, by which objectives choose models: `encoder`, `decoder`, `encoder_decoder`,
    `two_streams` (an encoder with a second stream of queries) or `both_directions` (a language model in each
    direction)."""
    has_encoder: ClassVar[bool] = True
    """True if it makes vectors of a text that have read all of it."""
    has_decoder: ClassVar[bool] = False
    """True if it has a decoder next to the encoder."""
    takes_virtual_tokens: ClassVar[bool] = False
    """True if vectors, or keys and values, may stand before the tokens of a text."""
    gives_layers: ClassVar[bool] = False
    """True if the layers of its encoder are given one by one, for a task to mix."""
    gives_attention: ClassVar[bool] = False
    """True if its layers have the attention whose probabilities can be kept."""
    max_characters: ClassVar[int] = 0
    """Most characters of a word that it reads; 0 if it reads tokens by their ids."""
    separators: ClassVar[int] = 1
    """Number of separators between two texts, as published models of its shape were trained."""
    reads_segments: ClassVar[bool] = False
    """True if it tells segments of a document apart."""
    carries_state: ClassVar[bool] = False
    """True if a training batch starts from the states that the batch before ended with."""
    divided_sizes: ClassVar[dict[str, int]] = {}
    """The sizes, by the key that says each, along which several devices hold a part of its weights."""
    not_fused: ClassVar[str] = "this model has no attention that the kernel knows"
    """Why the fused kernel of attention cannot compute it, as the end of a sentence; empty if it can."""

    if TYPE_CHECKING:
        layers: int

    @property
    def takes_prefixes(self) -> bool:
        """True if keys and values may stand before those of the tokens, in each layer."""
        return self.takes_virtual_tokens

    @property
    def own_layers(self) -> int:
        """Number of layers with weights of their own, from the first to the last.

        Stacks that stand next to each other count as one, with the layers of the deeper one.
        """
        return self.layers

    @property
    def separates_segments(self) -> bool:
        """True if it has more than one segment to tell, so that a second text can have an id of its own."""
        return self.reads_segments

    def parameter_counts(self, vocabulary: int) -> dict[str, int]:
        """Returns the numbers of parameters, by part.

        Args:
            vocabulary: Number of rows of the token table.
        """
        raise NotImplementedError

    def largest_weight(self, vocabulary: int) -> int:
        """Returns the parameters of the largest single weight of the backbone and its heads.

        Args:
            vocabulary: Number of rows of the token table.
        """
        raise NotImplementedError

    def work(self, lengths: Lengths) -> Work:
        """Returns the multiply-adds of the forward pass of a row.

        Args:
            lengths: Tokens of a row.
        """
        raise NotImplementedError

    def activations(self, lengths: Lengths, number: int) -> Activations:
        """Returns the bytes that a row keeps for its backward pass.

        Args:
            lengths: Tokens of a row.
            number: Bytes of a number that products are computed with: 4 in float32, 2 in bfloat16.
        """
        raise NotImplementedError
