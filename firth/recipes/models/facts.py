"""The facts that every model states."""

from typing import TYPE_CHECKING, ClassVar

from firth.recipes.models.counts import Activations, Lengths, Work


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
