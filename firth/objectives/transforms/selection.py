"""Selects the tokens of a row that are predicted: single pieces, or whole words."""

import tensorflow as tf


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


def taken_units(sizes: tf.Tensor, order: tf.Tensor, budget: tf.Tensor, units: tf.Tensor) -> tf.Tensor:
    """Returns whether each token's unit is taken, bool [n]; see `take_in_order`.

    Args:
        sizes: int32 [n], size of each unit.
        order: int32 [n], units in the order in which they are offered.
        budget: int32 scalar, most tokens that are taken.
        units: int32 [n], each token's unit.
    """
    taken = take_in_order(tf.gather(sizes, order), budget)
    taken_by_unit = tf.scatter_nd(order[:, tf.newaxis], tf.cast(taken, tf.int32), tf.shape(order))
    return tf.gather(taken_by_unit, units) > 0


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


def take_in_order(sizes: tf.Tensor, budget: tf.Tensor) -> tf.Tensor:
    """Returns which sizes are taken in order, if those that do not fit are skipped: bool [n].

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


def _random_ranks(allowed: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns int32 [n]: a random order in which all that is allowed comes first."""
    draws = tf.random.stateless_uniform(tf.shape(allowed), seed, alg="philox")
    order = tf.argsort(tf.where(allowed, draws, 2.0), stable=True)
    return tf.math.invert_permutation(order)
