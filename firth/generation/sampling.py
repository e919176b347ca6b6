"""Choice of a token from logits: filters of the distribution, and draws from it; each row has its own values.

A filter sets the logits of excluded tokens to minus infinity, and keeps at least one token. Tokens with the
same logit as the last one that stays stay too.
"""

from collections.abc import Callable

import tensorflow as tf

from firth.generation.controls import Controls

# Odd numbers without a pattern; products wrap around.
_STEP, _PURPOSE = 2654435769, 2246822519
_FIRST, _SECOND = 739982445, 2401173565
# One bit fewer than a float has, so that a share of a sum is always below the sum.
_UNIT_BITS = 23


def likeliest(logits: tf.Tensor, controls: Controls, step: tf.Tensor) -> tf.Tensor:
    """Returns the likeliest token of each row, int32 [batch]; the smallest id of equal ones.

    Args:
        logits: float32 [batch, vocabulary].
        step: Number of each row's token, int32 [batch]; not read.
    """
    return tf.argmax(logits, axis=1, output_type=tf.int32)


def sampled(logits: tf.Tensor, controls: Controls, step: tf.Tensor) -> tf.Tensor:
    """Returns a token drawn from each row's filtered distribution, int32 [batch].

    The draw depends on the row's seed and the number of its token alone, not on the other rows of the batch.
    At temperature 0 it is the likeliest token, so that rows of both kinds may share a batch.

    Args:
        logits: float32 [batch, vocabulary].
        step: Number of each row's token, int32 [batch].
    """
    return drawn(filtered(logits, controls), uniforms(controls.seeds, step))


def filtered(logits: tf.Tensor, controls: Controls) -> tf.Tensor:
    """Returns logits after the temperature and the filters of each row, float32 [batch, vocabulary].

    At temperature 0 the likeliest token alone is left. A filter that no row requests costs nothing.

    Args:
        logits: float32 [batch, vocabulary].
    """
    is_random = controls.temperature > 0.0
    made = logits / tf.where(is_random, controls.temperature, 1.0)[:, tf.newaxis]
    for keep, values, is_asked in (
        (keep_top_k, controls.top_k, controls.top_k > 0),
        (keep_top_p, controls.top_p, controls.top_p < 1.0),
        (keep_min_p, controls.min_p, controls.min_p > 0.0),
        (keep_typical, controls.typical_p, controls.typical_p < 1.0),
    ):
        made = _if_any(is_asked & is_random, keep, made, values)
    likeliest = tf.argmax(logits, axis=1, output_type=tf.int32)
    only = tf.range(tf.shape(logits)[1]) == likeliest[:, tf.newaxis]
    return tf.where(is_random[:, tf.newaxis] | only, made, -float("inf"))


def drawn(logits: tf.Tensor, uniform: tf.Tensor) -> tf.Tensor:
    """Returns a token of each row's distribution, int32 [batch].

    It is the first token, in the order of the ids, up to which the probabilities sum to more than the number.

    Args:
        logits: Logits, minus infinity where nothing is drawn, float32 [batch, vocabulary].
        uniform: A number in [0, 1) for each row, float32 [batch].

    Example:

    >>> logits = tf.math.log(tf.constant([[0.5, 0.25, 0.25]] * 3))
    >>> drawn(logits, tf.constant([0.4, 0.6, 0.9])).numpy().tolist()
    [0, 1, 2]
    """
    shares = tf.cumsum(tf.nn.softmax(logits), axis=1)
    # The sum of all is not exactly 1; a token of probability 0 is never drawn.
    target = uniform[:, tf.newaxis] * shares[:, -1:]
    return tf.reduce_sum(tf.cast(shares <= target, tf.int32), axis=1)


def uniforms(seeds: tf.Tensor, steps: tf.Tensor, purpose: int = 0) -> tf.Tensor:
    """Returns a number in [0, 1) for each row, float32 [batch].

    Three rounds of the finaliser of MurmurHash3 over the number of the token, each with a word of the seed.

    Args:
        seeds: Two words of each row's seed, int32 [batch, 2].
        steps: Number of the token that is drawn, int32 [batch].

    Example:

    >>> both = uniforms(tf.constant([[1, 0], [2, 0]]), tf.constant([5, 5]))
    >>> alone = uniforms(tf.constant([[2, 0]]), tf.constant([5]))
    >>> bool(both[1] == alone[0]), bool(both[0] == both[1])
    (True, False)
    """
    words = tf.bitcast(steps, tf.uint32) * _word(_STEP) + _word(purpose * _PURPOSE + 1)
    for seed in tf.unstack(tf.bitcast(seeds, tf.uint32), num=2, axis=1):
        words = _mixed(words) + seed
    words = tf.bitwise.right_shift(_mixed(words), _word(32 - _UNIT_BITS))
    return tf.cast(words, tf.float32) / float(2**_UNIT_BITS)


def keep_top_k(logits: tf.Tensor, top_k: tf.Tensor) -> tf.Tensor:
    """Keeps a number of likeliest tokens (Fan et al. 2018, "Hierarchical Neural Story Generation", 5.4).

    Args:
        logits: float32 [batch, vocabulary].
        top_k: Number of tokens that stay, int32 [batch]; 0 for all.

    Example:

    >>> keep_top_k(tf.constant([[1.0, 3.0, 2.0]]), tf.constant([2])).numpy().tolist()
    [[-inf, 3.0, 2.0]]
    """
    count = tf.minimum(top_k, tf.shape(logits)[1])
    highest = tf.math.top_k(logits, tf.maximum(tf.reduce_max(count), 1)).values
    last = tf.gather(highest, tf.maximum(count - 1, 0), batch_dims=1)
    return _at_least(logits, tf.where(count > 0, last, -float("inf")))


def keep_top_p(logits: tf.Tensor, top_p: tf.Tensor) -> tf.Tensor:
    """Keeps the fewest likeliest tokens whose probabilities sum to a share.

    Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1.

    Args:
        logits: float32 [batch, vocabulary].
        top_p: The share, float32 [batch]; 1 for all.

    Example:

    >>> logits = tf.math.log(tf.constant([[0.5, 0.3, 0.2]]))
    >>> tf.nn.softmax(keep_top_p(logits, tf.constant([0.7]))).numpy().round(3).tolist()
    [[0.625, 0.375, 0.0]]
    """
    ordered = tf.sort(logits, direction="DESCENDING")
    before = tf.cumsum(tf.nn.softmax(ordered), axis=1, exclusive=True)
    return _at_least(logits, _last_of(ordered, before, top_p))


def keep_min_p(logits: tf.Tensor, min_p: tf.Tensor) -> tf.Tensor:
    """Keeps tokens at least a share as likely as the likeliest one.

    Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling", section 3.

    Args:
        logits: float32 [batch, vocabulary].
        min_p: The share, float32 [batch]; 0 for all.

    Example:

    >>> logits = tf.math.log(tf.constant([[0.5, 0.3, 0.2]]))
    >>> tf.nn.softmax(keep_min_p(logits, tf.constant([0.5]))).numpy().round(3).tolist()
    [[0.625, 0.375, 0.0]]
    """
    return _at_least(logits, tf.reduce_max(logits, axis=1) + tf.math.log(min_p))


def keep_typical(logits: tf.Tensor, typical_p: tf.Tensor) -> tf.Tensor:
    """Keeps the fewest tokens whose information is nearest to its expectation, and that sum to a share.

    Meister et al. 2023, "Locally Typical Sampling", section 4.

    Args:
        logits: float32 [batch, vocabulary].
        typical_p: The share of the probability, float32 [batch]; 1 for all.

    Example:

    >>> logits = tf.math.log(tf.constant([[0.6, 0.3, 0.1]]))
    >>> tf.nn.softmax(keep_typical(logits, tf.constant([0.2]))).numpy().round(3).tolist()
    [[0.0, 1.0, 0.0]]
    """
    shares, logs = tf.nn.softmax(logits), tf.nn.log_softmax(logits)
    expected = -tf.reduce_sum(tf.math.multiply_no_nan(logs, shares), axis=1, keepdims=True)
    nearness = -tf.abs(expected + logs)
    nearest = tf.argsort(nearness, direction="DESCENDING", stable=True)
    ordered = tf.gather(nearness, nearest, batch_dims=1)
    before = tf.cumsum(tf.gather(shares, nearest, batch_dims=1), axis=1, exclusive=True)
    least = _last_of(ordered, before, typical_p)
    return tf.where(nearness >= least[:, tf.newaxis], logits, -float("inf"))


def _if_any(
    is_asked: tf.Tensor,
    keep: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
    logits: tf.Tensor,
    values: tf.Tensor,
) -> tf.Tensor:
    return tf.cond(tf.reduce_any(is_asked), lambda: keep(logits, values), lambda: tf.identity(logits))


def _at_least(logits: tf.Tensor, least: tf.Tensor) -> tf.Tensor:
    return tf.where(logits >= least[:, tf.newaxis], logits, -float("inf"))


def _last_of(ordered: tf.Tensor, before: tf.Tensor, share: tf.Tensor) -> tf.Tensor:
    """Returns the value of the last token that stays, float32 [batch]: less than the share is before it."""
    kept = tf.reduce_sum(tf.cast(before < share[:, tf.newaxis], tf.int32), axis=1)
    last = tf.gather(ordered, tf.maximum(kept - 1, 0), batch_dims=1)
    return tf.where(share < 1.0, last, -float("inf"))


def _mixed(words: tf.Tensor) -> tf.Tensor:
    for factor, shift in ((_FIRST, 16), (_SECOND, 15)):
        words = tf.bitwise.bitwise_xor(words, tf.bitwise.right_shift(words, _word(shift))) * _word(factor)
    return tf.bitwise.bitwise_xor(words, tf.bitwise.right_shift(words, _word(16)))


def _word(value: int) -> tf.Tensor:
    return tf.constant(value % 2**32, tf.uint32)
