"""ELMo's model."""

from typing import ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import Config, Fraction
from firth.recipes.models.blocks import Count, Layers, Stddev
from firth.recipes.models.facts import Activations, Lengths, ModelFacts, Work, dense

# Bytes, marks of a word's and a sentence's begin and end, padding of a word and of a sequence.
CHARACTERS = 262


class CharacterCNNConfig(Config):
    """A word's vector from its characters (Kim et al. 2015; Peters et al. 2018, section 3.4)."""

    width: Count = 16
    """Width of a character's embedding."""
    max_characters: int = pydantic.Field(default=50, ge=4)
    """Number of characters of a word, with the marks at its begin and end; longer words are cut."""
    filters: tuple[tuple[Count, Count], ...] = (
        (1, 32),
        (2, 32),
        (3, 64),
        (4, 128),
        (5, 256),
        (6, 512),
        (7, 1024),
    )
    """Pairs of a convolution's width, in characters, and its number of filters."""
    highway_layers: int = pydantic.Field(default=2, ge=0, le=1_000)
    """Number of highway layers after the convolutions (Srivastava et al. 2015)."""
    activation: Literal["relu", "tanh"] = "relu"
    """Activation of the convolutions."""

    def parameter_count(self, width: int) -> int:
        """Returns the parameters of the layers from characters to a word's vector.

        Args:
            width: Width of a word's vector.
        """
        convolutions = sum(dense(span * self.width, count) for span, count in self.filters)
        highways = self.highway_layers * dense(self._all_filters, 2 * self._all_filters)
        return CHARACTERS * self.width + convolutions + highways + dense(self._all_filters, width)

    def work(self, width: int) -> int:
        """Returns the multiply-adds of one word.

        Args:
            width: Width of a word's vector.
        """
        places = ((span, count, self.max_characters - span + 1) for span, count in self.filters)
        convolutions = sum(place * span * self.width * count for span, count, place in places)
        filters = self._all_filters
        return convolutions + self.highway_layers * 2 * filters * filters + filters * width

    @property
    def largest_weight(self) -> int:
        """The parameters of a highway layer's kernel."""
        return 2 * self._all_filters**2 if self.highway_layers else 0

    @property
    def kept(self) -> int:
        """Numbers kept by the convolutions and highway layers of one word."""
        return (2 + 4 * self.highway_layers) * self._all_filters

    @property
    def _all_filters(self) -> int:
        return sum(count for _, count in self.filters)


class BiLSTMConfig(ModelFacts, Config):
    """ELMo's bidirectional language model over words (Peters et al. 2018, section 3.1)."""

    architecture: ClassVar[str] = "both_directions"
    gives_layers: ClassVar[bool] = True

    # Sequences may be of any length.
    longest: ClassVar[None] = None
    kind: Literal["bilstm"] = "bilstm"
    layers: Layers = 2
    """Number of LSTMs in each direction."""
    cells: Count = 4096
    """Number of cells of an LSTM."""
    projection_width: Count = 512
    """Width of an LSTM's output, and of a word's vector; hidden states hold both directions."""
    characters: CharacterCNNConfig = CharacterCNNConfig()
    """Layers from characters to words."""
    cell_clip: float | None = pydantic.Field(default=3.0, gt=0)
    """Bound of the absolute values of cell states; null for none."""
    projection_clip: float | None = pydantic.Field(default=3.0, gt=0)
    """Bound of the absolute values of projected outputs; null for none."""
    skip_connections: bool = True
    """True to add a layer's input to its output, from the second layer on."""
    carry_state: bool = False
    """True to start each training batch from the states that the batch before ended with, as the reference
    code does. Evaluation and serving never do."""
    dropout: Fraction = 0.1
    """Dropout rate of the input of each layer."""
    initializer_stddev: Stddev = 0.02
    """Standard deviation that the softmax weights start from."""

    @property
    def width(self) -> int:
        """Width of the hidden states, both directions together."""
        return 2 * self.projection_width

    @property
    def max_characters(self) -> int:  # type: ignore[override]
        """The characters of a word that are read."""
        return self.characters.max_characters

    @property
    def carries_state(self) -> bool:  # type: ignore[override]
        """As the recipe says."""
        return self.carry_state

    def parameter_counts(self, vocabulary: int) -> dict[str, int]:
        """Returns the parameters of ELMo's model, by part.

        `characters` are the layers from characters to a word's vector; `lstm` are both directions.

        Args:
            vocabulary: Number of words, which matters to the softmax alone.
        """
        projected = self.projection_width
        layer = dense(2 * projected, 4 * self.cells) + self.cells * projected
        return {"characters": self.characters.parameter_count(projected), "lstm": 2 * self.layers * layer}

    def largest_weight(self, vocabulary: int) -> int:
        """Returns the parameters of the softmax, of both directions of an LSTM, or of a highway layer.

        Args:
            vocabulary: Number of words.
        """
        gates = 2 * self.projection_width * 4 * self.cells
        return max(vocabulary * self.projection_width, gates, self.characters.largest_weight)

    def work(self, lengths: Lengths) -> Work:
        """Returns the work from characters to words and of all LSTMs of both directions.

        Args:
            lengths: Words of a row.
        """
        projected = self.projection_width
        cell = 2 * projected * 4 * self.cells + self.cells * projected
        return Work(lengths.input * (self.characters.work(projected) + 2 * self.layers * cell))

    def activations(self, lengths: Lengths, number: int) -> Activations:
        """Returns the bytes kept by the convolutions and highway layers of each word, and by all LSTMs.

        An LSTM keeps, for each word and direction, its four gates, its cell and the cell's tanh, and its
        input, output and projected output; its backward pass holds the gradients of the gates. A filter keeps
        its largest value and its activation, a highway layer four numbers of each filter.

        Args:
            lengths: Words of a row.
            number: Bytes of a number that products are computed with.
        """
        words = lengths.input * number
        layer = words * 2 * (6 * self.cells + 3 * self.projection_width)
        characters = words * self.characters.kept
        return Activations(
            blocks=characters + self.layers * layer,
            inputs=characters + words * self.layers * self.width,
            block=layer,
            gradients=words * 2 * 4 * self.cells,
        )
