"""Chooses the tokens that are predicted, and replaces them by `[MASK]` or random pieces."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import ordinary_table
from firth.objectives.transforms.layout import Layout
from firth.objectives.transforms.selection import count_predictions

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer


class ChosenTokens(NamedTuple):
    """Chosen tokens of a row, in their order.

    Attributes:
        positions: Positions, int32 [max_predictions]; the length of the row on predictions that are not used.
        labels: Ids at these positions, int32 [max_predictions]; zeros after.
        is_used: bool [max_predictions], False on the places that are left over.
    """

    positions: tf.Tensor
    labels: tf.Tensor
    is_used: tf.Tensor

    def features(self) -> dict[str, tf.Tensor]:
        """Returns the features of `features.selection_specs`."""
        return {
            features.MASKED_POSITIONS: tf.where(self.is_used, self.positions, 0),
            features.MASKED_LABELS: self.labels,
            features.MASKED_WEIGHTS: tf.cast(self.is_used, tf.float32),
        }

    def numbered_spans(self) -> tf.Tensor:
        """Returns the number of each prediction's span of neighbours, int32 [max_predictions]."""
        follows = self.is_used[1:] & (self.positions[1:] == self.positions[:-1] + 1)
        return tf.concat([[0], tf.cumsum(tf.cast(~follows, tf.int32))], 0)


class Replacements(Protocol):
    """The rates of an objective that says what predicted tokens are replaced by."""

    @property
    def mask_token_rate(self) -> float:
        """Share of the predicted tokens that becomes `[MASK]`."""

    @property
    def random_token_rate(self) -> float:
        """Share of the predicted tokens that becomes a random piece."""

    @property
    def paper_exact(self) -> bool:
        """True to draw random pieces from the whole vocabulary."""


class Choice:
    """The choice of the tokens of a row that are predicted.

    Padding and special tokens are never chosen: neither those of the layout nor any special id of the text,
    such as `[UNK]` or a `[MASK]` that somebody typed.
    """

    def __init__(self, rate: float, max_predictions: int, length: int, tokenizer: "PieceTokenizer") -> None:
        if max_predictions > length:
            raise ValueError(f"max_predictions: {max_predictions} is above the length: {length}")
        self._rate = rate
        self._max_predictions = max_predictions
        self._length = length
        self._ordinary = ordinary_table(tokenizer)

    def maskable(self, layout: Layout, rate: float | tf.Tensor | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the tokens that can be chosen, bool [length], and the number to choose, int32 []."""
        maskable = layout.is_text & tf.gather(tf.constant(self._ordinary), layout.token_ids)
        rate = self._rate if rate is None else rate
        return maskable, count_predictions(maskable, rate, self._max_predictions)

    def predict(self, token_ids: tf.Tensor, selected: tf.Tensor) -> ChosenTokens:
        """Returns the chosen tokens.

        Args:
            token_ids: Ids of the row, int32 [length].
            selected: bool [length], True on at most `max_predictions` tokens.
        """
        places = tf.sort(tf.where(selected, tf.range(self._length), self._length))
        positions = places[: self._max_predictions]
        is_used = positions < self._length
        # One place more than the row has is what unused predictions read.
        labels = tf.gather(tf.concat([token_ids, [0]], 0), positions)
        return ChosenTokens(positions, labels, is_used)


class Corruption:
    """Shows predicted tokens as `[MASK]`, as a random piece, or as they are.

    A random piece may happen to be the original. It is not a special piece, unless `paper_exact`.

    Raises:
        ValueError: if random pieces are asked for and all pieces are special.
    """

    def __init__(self, config: Replacements, tokenizer: "PieceTokenizer") -> None:
        self._mask_rate = config.mask_token_rate
        self._random_rate = config.random_token_rate
        self._mask_id = tokenizer.mask_id
        self._drawable = _drawable_ids(tokenizer, config.paper_exact)

    def corrupt(
        self, token_ids: tf.Tensor, chosen: ChosenTokens, seeds: tf.Tensor, groups: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns the token ids as the model sees them, int32 [length].

        Args:
            token_ids: Ids of the row, int32 [length].
            seeds: Seeds, int32 or int64 [2, 2].
            groups: Group of each prediction, int32 [max_predictions], from 0: all of a group are replaced in
                the same way. None for a draw for each prediction. Random pieces are drawn for each in either
                case.
        """
        shape = tf.shape(chosen.labels)
        draws = tf.random.stateless_uniform(shape, seeds[0], alg="philox")
        draws = draws if groups is None else tf.gather(draws, groups)
        shown = chosen.labels
        if self._random_rate:
            pieces = tf.random.stateless_uniform(
                shape, seeds[1], minval=0, maxval=len(self._drawable), dtype=tf.int32, alg="philox"
            )
            is_changed = draws < self._mask_rate + self._random_rate
            shown = tf.where(is_changed, tf.gather(tf.constant(self._drawable), pieces), shown)
        shown = tf.where(draws < self._mask_rate, self._mask_id, shown)
        # One place more than the row has takes what unused predictions write.
        tokens = tf.concat([token_ids, [0]], 0)
        return tf.tensor_scatter_nd_update(tokens, chosen.positions[:, tf.newaxis], shown)[:-1]


def _drawable_ids(tokenizer: "PieceTokenizer", paper_exact: bool) -> npt.NDArray[Any]:
    every = np.arange(tokenizer.vocabulary_size(), dtype=np.int32)
    drawable = every if paper_exact else np.setdiff1d(every, tokenizer.special_ids)
    if not drawable.size:
        raise ValueError("the vocabulary has no piece to draw: all its pieces are special")
    return drawable
