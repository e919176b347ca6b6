"""Chooses the predicted tokens, pieces or whole words, and replaces them by `[MASK]` or random pieces."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import ordinary_table
from firth.objectives.transforms.layout import Layout

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer


def count_predictions(maskable: tf.Tensor, rate: float | tf.Tensor, max_predictions: int) -> tf.Tensor:
    """Returns the number of tokens to predict, int32 []: `max(1, round(rate x maskable tokens))`, capped.

    It is 0 if nothing is maskable. Halves are rounded to the even number, as Python does.

    The count is exact and over the tokens that can be masked. Elsewhere: google-research/bert takes `max(1,
    round(rate x length))` with `[CLS]` and `[SEP]` counted in the length, tensorflow-text `ceil(rate x
    selectable)`, and KerasHub's Python path draws each token for itself, so that a row may get none.

    Args:
        maskable: bool [length], True on tokens that may be selected.

    Example:

    >>> int(count_predictions([True] * 9 + [False], rate=0.15, max_predictions=20))
    1
    >>> int(count_predictions([False, False], rate=0.15, max_predictions=20))
    0
    """
    count = tf.reduce_sum(tf.cast(maskable, tf.int32))
    # In float64 the product rounds as it does in Python.
    rounded = tf.cast(tf.round(rate * tf.cast(count, tf.float64)), tf.int32)
    return tf.minimum(tf.minimum(tf.maximum(rounded, 1), max_predictions), count)


def select_pieces(maskable: tf.Tensor, budget: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns bool [length]: `budget` of the maskable tokens, each as likely as any other.

    Args:
        maskable: bool [length], True on tokens that may be selected.
        budget: Number of tokens to select, int32 [].
        seed: Seed, int32 or int64 [2].

    Example:

    >>> int(tf.reduce_sum(tf.cast(select_pieces([True, True, False, True], 2, [0, 1]), tf.int32)))
    2
    """
    return maskable & (_random_ranks(maskable, seed) < budget)


def select_words(
    maskable: tf.Tensor, word_starts: tf.Tensor, budget: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Returns bool [length]: whole words, at most `budget` tokens of them.

    Words are taken in random order. One that would exceed the budget is skipped, so fewer than `budget`
    tokens may be selected, and none if every word is longer.

    Args:
        maskable: bool [length], True on tokens that may be selected.
        word_starts: bool [length], True where a word begins. A word also begins after a token that is not
            maskable.
        budget: Most tokens to select, int32 [].
        seed: Seed, int32 or int64 [2].

    Example: of the words of 1, 3 and 2 tokens, a budget of 3 takes the second, or both others.

    >>> starts = [True, True, False, False, True, False]
    >>> select_words([True] * 6, starts, 3, seed=[0, 0]).numpy().astype(int)
    array([1, 0, 0, 0, 1, 1])
    """
    maskable = tf.convert_to_tensor(maskable)
    words = number_words(maskable, word_starts)
    sizes = tf.math.unsorted_segment_sum(tf.cast(maskable, tf.int32), words, tf.size(words))
    order = tf.argsort(_random_ranks(sizes > 0, seed))
    return maskable & taken_units(sizes, order, budget, words)


def number_words(maskable: tf.Tensor, word_starts: tf.Tensor) -> tf.Tensor:
    """Returns the number of each maskable token's word, int32 [length], ascending from 0.

    A word begins where `word_starts` is set, and after a token that is not maskable. Tokens that are not
    maskable have the number of the word before them.

    Args:
        maskable: bool [length], True on tokens that may be selected.
        word_starts: bool [length], True where a word begins.

    Example:

    >>> number_words([True, True, False, True, True], [True, False, True, False, True]).numpy()
    array([0, 0, 0, 1, 2], dtype=int32)
    """
    maskable, word_starts = tf.convert_to_tensor(maskable), tf.convert_to_tensor(word_starts)
    after_gap = tf.concat([[True], ~maskable[:-1]], 0)
    begins = maskable & (word_starts | after_gap)
    return tf.maximum(tf.cumsum(tf.cast(begins, tf.int32)) - 1, 0)


def taken_units(sizes: tf.Tensor, order: tf.Tensor, budget: tf.Tensor, units: tf.Tensor) -> tf.Tensor:
    """Returns bool [n], True for tokens whose unit is taken; see `take_in_order`.

    Args:
        sizes: int32 [n], size of each unit.
        order: int32 [n], units in the order in which they are offered.
        budget: int32 scalar, most tokens that are taken.
        units: int32 [n], each token's unit.
    """
    taken = take_in_order(tf.gather(sizes, order), budget)
    taken_by_unit = tf.scatter_nd(order[:, tf.newaxis], tf.cast(taken, tf.int32), tf.shape(order))
    return tf.gather(taken_by_unit, units) > 0


def take_in_order(sizes: tf.Tensor, budget: tf.Tensor) -> tf.Tensor:
    """Returns bool [n], True for the sizes that are taken in order when those that do not fit are skipped.

    The room that is left only shrinks. So all sizes that exceed it now are skipped at once, and then the
    longest prefix that fits is taken at once. There is one iteration for each time that a smaller room skips
    more.

    Args:
        sizes: Sizes in their order, int32 [n]; 0 is never taken.
        budget: Most that the sizes taken may sum to, int32 [].
    """

    def fits(pending: tf.Tensor, _: tf.Tensor, room: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any(pending & (sizes <= room))

    def take(pending: tf.Tensor, taken: tf.Tensor, room: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        pending = pending & (sizes <= room)
        accepted = pending & (tf.cumsum(tf.where(pending, sizes, 0)) <= room)
        room -= tf.reduce_sum(tf.where(accepted, sizes, 0))
        return pending & ~accepted, taken | accepted, room

    state = (sizes > 0, tf.zeros_like(sizes, tf.bool), tf.cast(budget, tf.int32))
    return tf.while_loop(fits, take, state)[1]


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
    """The rates by which an objective replaces predicted tokens."""

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
        # Unused predictions read the place after the row.
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
        # Unused predictions write to the place after the row.
        tokens = tf.concat([token_ids, [0]], 0)
        return tf.tensor_scatter_nd_update(tokens, chosen.positions[:, tf.newaxis], shown)[:-1]


def _drawable_ids(tokenizer: "PieceTokenizer", paper_exact: bool) -> npt.NDArray[Any]:
    every = np.arange(tokenizer.vocabulary_size(), dtype=np.int32)
    drawable = every if paper_exact else np.setdiff1d(every, tokenizer.special_ids)
    if not drawable.size:
        raise ValueError("the vocabulary has no piece to draw: all its pieces are special")
    return drawable


def _random_ranks(allowed: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns int32 [n]: a random order in which all that is allowed comes first."""
    draws = tf.random.stateless_uniform(tf.shape(allowed), seed, alg="philox")
    order = tf.argsort(tf.where(allowed, draws, 2.0), stable=True)
    return tf.math.invert_permutation(order)
