"""What objectives that predict chosen tokens share: which can be chosen, and what they are shown as."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import ordinary_table
from firth.objectives.transforms.layout import Layout
from firth.objectives.transforms.selection import count_predictions


class Predictions(NamedTuple):
    """Chosen tokens of a row, in their order.

    Attributes:
        positions: int32 [max_predictions], the length of the row on those that are not used.
        labels: int32 [max_predictions], what stands there; zeros after.
        is_used: bool [max_predictions].
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
        """Returns the number of the span of neighbours that each is in, int32 [max_predictions]."""
        follows = self.is_used[1:] & (self.positions[1:] == self.positions[:-1] + 1)
        return tf.concat([[0], tf.cumsum(tf.cast(~follows, tf.int32))], 0)


class Choice:
    """Which tokens of a row may be predicted, and how many.

    Padding and special tokens are never chosen: neither those put in by the layout nor any special id of the
    text, such as `[UNK]` or a `[MASK]` that somebody typed.

    Args:
        rate: Share of the maskable tokens that is predicted; see `selection.count_predictions`.
        max_predictions: Of a row.
        length: Of a row.
        tokenizer: Gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length.
    """

    def __init__(self, rate: float, max_predictions: int, length: int, tokenizer):
        if max_predictions > length:
            raise ValueError(f"max_predictions: {max_predictions} is above the length: {length}")
        self._rate = rate
        self._max_predictions = max_predictions
        self._length = length
        self._ordinary = ordinary_table(tokenizer)

    def maskable(self, layout: Layout) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns what can be chosen, bool [length], and how many are to be, int32 []."""
        maskable = layout.is_text & tf.gather(tf.constant(self._ordinary), layout.token_ids)
        return maskable, count_predictions(maskable, self._rate, self._max_predictions)

    def predict(self, token_ids, selected) -> Predictions:
        """Returns the chosen tokens.

        Args:
            token_ids: int32 [length].
            selected: bool [length], True on at most `max_predictions`.
        """
        places = tf.sort(tf.where(selected, tf.range(self._length), self._length))
        positions = places[: self._max_predictions]
        is_used = positions < self._length
        # One place more than the row has is what unused predictions read.
        labels = tf.gather(tf.concat([token_ids, [0]], 0), positions)
        return Predictions(positions, labels, is_used)


class Corruption:
    """Shows predicted tokens as `[MASK]`, as a random piece, or as they are.

    Random pieces may happen to be the original. They are no special ones, unless `paper_exact`.

    Args:
        config: The objective's part of a recipe.
        tokenizer: Gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if random pieces are asked for and none is left to draw.
    """

    def __init__(self, config, tokenizer):
        self._mask_rate = config.mask_token_rate
        self._random_rate = config.random_token_rate
        self._mask_id = tokenizer.mask_id
        self._drawable = _drawable_ids(tokenizer, config.paper_exact)

    def corrupt(self, token_ids, chosen: Predictions, seeds, groups=None) -> tf.Tensor:
        """Returns the token ids as the model sees them, int32 [length].

        Args:
            token_ids: int32 [length].
            chosen: What is predicted.
            seeds: int32 or int64 [2, 2].
            groups: int32 [max_predictions], from 0: predictions of one number have one fate; each has its own
                without. Random pieces are drawn for each in either case.
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


def _drawable_ids(tokenizer, paper_exact: bool) -> np.ndarray:
    every = np.arange(tokenizer.vocabulary_size(), dtype=np.int32)
    drawable = every if paper_exact else np.setdiff1d(every, tokenizer.special_ids)
    if not drawable.size:
        raise ValueError("the vocabulary has no piece to draw: all its pieces are special")
    return drawable
