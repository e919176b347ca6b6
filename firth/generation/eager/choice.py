"""Choice of a token from logits on `keras.ops`: biases, penalties, filters and draws, each row with its own.

They are those of `firth.generation.penalties` and `firth.generation.sampling`, which are TensorFlow's and
name the papers.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from keras import ops

from firth.layers.elements.types import Tensor

# Values of the requests of a batch by name; see `firth.generation.request_arrays`.
Values = Mapping[str, Tensor]
_NEVER = -float("inf")
# The constants of `firth.generation.sampling.uniforms`.
_STEP, _FIRST, _SECOND = 2654435769, 739982445, 2401173565
_UNIT_BITS = 23


class EagerSeen(NamedTuple):
    """The text of each row so far, after the prompt, or after the tokens that a decoder starts from.

    Attributes:
        tokens: The text, int32 [batch, places]; any tokens after it.
        count: Number of its tokens, int32 [batch].
        new: Number of tokens that have been written, int32 [batch].
    """

    tokens: Tensor
    count: Tensor
    new: Tensor

    def with_token(self, token: Tensor, is_new: Tensor) -> "EagerSeen":
        """Returns the texts after one more token.

        Args:
            token: Token of each row, int32 [batch].
            is_new: True for rows that get it, bool [batch].
        """
        places = ops.arange(self.tokens.shape[1], dtype="int32")
        here = (places == ops.expand_dims(self.count, 1)) & ops.expand_dims(is_new, 1)
        more = ops.cast(is_new, "int32")
        tokens = ops.where(here, ops.expand_dims(token, 1), self.tokens)
        return EagerSeen(tokens, self.count + more, self.new + more)


def adjusted(logits: Tensor, values: Values, seen: EagerSeen, end_id: int) -> Tensor:
    """Returns logits with biases and penalties, float32 [batch, vocabulary].

    Tokens that may not follow get minus infinity. If no token may follow, the end may.

    Args:
        logits: float32 [batch, vocabulary].
        values: Values that each row requests.
        seen: The texts so far.
        end_id: Id of the token that ends a text; -1 if there is none.
    """
    repetition, presence, frequency = (
        ops.expand_dims(values[f"{name}_penalty"], 1) for name in ("repetition", "presence", "frequency")
    )
    places, count = ops.arange(seen.tokens.shape[1], dtype="int32"), ops.expand_dims(seen.count, 1)
    is_text = places < count
    is_written = is_text & (places >= count - ops.expand_dims(seen.new, 1))

    def divided() -> Tensor:
        weaker = ops.where(logits > 0.0, logits / repetition, logits * repetition)
        return ops.where(_times(seen.tokens, is_text, logits) > 0, weaker, logits)

    logits = ops.cond(ops.any(repetition != 1.0), divided, lambda: logits + 0.0)

    def without_repeats() -> Tensor:
        times = ops.cast(_times(seen.tokens, is_written, logits), "float32")
        return logits - presence * ops.cast(times > 0, "float32") - frequency * times

    logits = ops.cond(ops.any((presence != 0.0) | (frequency != 0.0)), without_repeats, lambda: logits + 0.0)
    if values["biases"].shape[1]:
        biases = ops.scatter(_pairs(values["bias_ids"]), ops.reshape(values["biases"], (-1,)), logits.shape)
        logits = logits + biases
    too_early = seen.new < values["min_new_tokens"]
    sizes = values["no_repeat_ngram_size"]

    def without_ruled_out() -> Tensor:
        is_end = ops.expand_dims(ops.arange(logits.shape[1], dtype="int32") == end_id, 0)
        ruled_out = (is_end & ops.expand_dims(too_early, 1)) | _repeating(seen, sizes, logits)
        left = ops.where(ruled_out, _NEVER, logits)
        nothing = ops.all(left == _NEVER, axis=1, keepdims=True)
        return ops.where(nothing & is_end, logits, left)

    return ops.cond(ops.any((sizes > 0) | too_early), without_ruled_out, lambda: logits + 0.0)


def _repeating(seen: EagerSeen, sizes: Tensor, logits: Tensor) -> Tensor:
    """Returns the tokens that would repeat a run of so many tokens of a text, bool [batch, vocabulary]."""
    tokens, count, sizes = seen.tokens, seen.count, ops.expand_dims(sizes, 1)
    places = ops.expand_dims(ops.arange(tokens.shape[1], dtype="int32"), 0)
    whole = (sizes > 0) & (places >= sizes - 1) & (places < ops.expand_dims(count, 1))

    def compared(back: Tensor, agree: Tensor) -> tuple[Tensor, Tensor]:
        """Compares the tokens so many places before each place and before the next token of the text."""
        # Guesses outside the text are never kept.
        here = ops.expand_dims(ops.clip(count - back, 0, tokens.shape[1] - 1), 1)
        last = ops.take_along_axis(tokens, here, axis=1)
        before = ops.take_along_axis(
            tokens, ops.broadcast_to(ops.maximum(places - back, 0), tokens.shape), axis=1
        )
        return back + 1, agree & ((before == last) | (back >= sizes))

    first = ops.ones((), "int32")
    _, agree = ops.while_loop(lambda back, _: back < ops.max(sizes), compared, (first, whole))
    return _times(tokens, agree, logits) > 0


def _times(tokens: Tensor, which: Tensor, logits: Tensor) -> Tensor:
    """Returns the number of times that each token of the vocabulary occurs, int32 [batch, vocabulary]."""
    return ops.scatter(_pairs(tokens), ops.reshape(ops.cast(which, "int32"), (-1,)), logits.shape)


def _pairs(ids: Tensor) -> Tensor:
    """Returns the row and the id of each token, int32 [batch * count, 2]."""
    rows = ops.broadcast_to(ops.expand_dims(ops.arange(ids.shape[0], dtype="int32"), 1), ids.shape)
    return ops.reshape(ops.stack([rows, ids], axis=-1), (-1, 2))


def likeliest(logits: Tensor) -> Tensor:
    """Returns the likeliest token of each row, int32 [batch]; the smallest id of equal ones.

    Args:
        logits: float32 [batch, vocabulary].
    """
    return ops.cast(ops.argmax(logits, axis=1), "int32")


def sampled(logits: Tensor, values: Values, uniform: Tensor) -> Tensor:
    """Returns a token drawn from each row's filtered distribution, int32 [batch].

    Args:
        logits: float32 [batch, vocabulary].
        values: Values that each row requests.
        uniform: A number in [0, 1) for each row, float32 [batch].
    """
    shares = ops.cumsum(ops.softmax(filtered(logits, values)), axis=1)
    # The sum of all is not exactly 1; a token of probability 0 is never drawn.
    target = ops.expand_dims(uniform, 1) * shares[:, -1:]
    return ops.sum(ops.cast(shares <= target, "int32"), axis=1)


def filtered(logits: Tensor, values: Values) -> Tensor:
    """Returns logits after the temperature and the filters of each row, float32 [batch, vocabulary].

    At temperature 0 the likeliest token alone is left.

    Args:
        logits: float32 [batch, vocabulary].
        values: Values that each row requests.
    """
    is_random = values["temperature"] > 0.0
    made = logits / ops.expand_dims(ops.where(is_random, values["temperature"], 1.0), 1)
    for name, keep, is_asked in (
        ("top_k", _keep_top_k, values["top_k"] > 0),
        ("top_p", _keep_top_p, values["top_p"] < 1.0),
        ("min_p", _keep_min_p, values["min_p"] > 0.0),
        ("typical_p", _keep_typical, values["typical_p"] < 1.0),
    ):
        made = _if_any(is_asked & is_random, keep, made, values[name])
    only = ops.arange(logits.shape[1], dtype="int32") == ops.expand_dims(likeliest(logits), 1)
    return ops.where(ops.expand_dims(is_random, 1) | only, made, _NEVER)


def _if_any(
    is_asked: Tensor, keep: Callable[[Tensor, Tensor], Tensor], logits: Tensor, values: Tensor
) -> Tensor:
    return ops.cond(ops.any(is_asked), lambda: keep(logits, values), lambda: logits + 0.0)


def _keep_top_k(logits: Tensor, top_k: Tensor) -> Tensor:
    place = ops.clip(top_k, 1, logits.shape[1]) - 1
    last = ops.take_along_axis(_descending(logits), ops.expand_dims(place, 1), axis=1)
    return _at_least(logits, ops.where(top_k > 0, last[:, 0], _NEVER))


def _keep_top_p(logits: Tensor, top_p: Tensor) -> Tensor:
    ordered = _descending(logits)
    return _at_least(logits, _last_of(ordered, _sums_before(ops.softmax(ordered)), top_p))


def _keep_min_p(logits: Tensor, min_p: Tensor) -> Tensor:
    return _at_least(logits, ops.max(logits, axis=1) + ops.log(min_p))


def _keep_typical(logits: Tensor, typical_p: Tensor) -> Tensor:
    shares, logs = ops.softmax(logits), ops.log_softmax(logits)
    products = ops.where(shares > 0.0, shares * ops.where(shares > 0.0, logs, 0.0), 0.0)
    expected = -ops.sum(products, axis=1, keepdims=True)
    nearness = -ops.abs(expected + logs)
    nearest = ops.argsort(-nearness, axis=1)
    ordered = ops.take_along_axis(nearness, nearest, axis=1)
    least = _last_of(ordered, _sums_before(ops.take_along_axis(shares, nearest, axis=1)), typical_p)
    return ops.where(nearness >= ops.expand_dims(least, 1), logits, _NEVER)


def _descending(logits: Tensor) -> Tensor:
    return ops.flip(ops.sort(logits, axis=1), axis=1)


def _sums_before(shares: Tensor) -> Tensor:
    return ops.pad(ops.cumsum(shares, axis=1)[:, :-1], ((0, 0), (1, 0)))


def _last_of(ordered: Tensor, before: Tensor, share: Tensor) -> Tensor:
    """Returns the value of the last token that stays, float32 [batch]: less than the share is before it."""
    kept = ops.sum(ops.cast(before < ops.expand_dims(share, 1), "int32"), axis=1)
    place = ops.expand_dims(ops.maximum(kept - 1, 0), 1)
    last = ops.take_along_axis(ordered, place, axis=1)[:, 0]
    return ops.where(share < 1.0, last, _NEVER)


def _at_least(logits: Tensor, least: Tensor) -> Tensor:
    return ops.where(logits >= ops.expand_dims(least, 1), logits, _NEVER)


def uniforms(seeds: npt.NDArray[np.int32], step: int) -> npt.NDArray[np.float32]:
    """Returns a number in [0, 1) for each row, float32 [batch], as `firth.generation.sampling.uniforms` does.

    Args:
        seeds: Two words of each row's seed, int32 [batch, 2].
        step: Number of the token that is drawn.

    Example:

    >>> both = uniforms(np.array([[1, 0], [2, 0]], np.int32), 5)
    >>> alone = uniforms(np.array([[2, 0]], np.int32), 5)
    >>> bool(both[1] == alone[0]), bool(both[0] == both[1])
    (True, False)
    """
    words = np.full(len(seeds), (step * _STEP + 1) % 2**32, np.uint32)
    for seed in seeds.view(np.uint32).T:
        words = _mixed(words) + seed
    return ((_mixed(words) >> np.uint32(32 - _UNIT_BITS)) / float(2**_UNIT_BITS)).astype(np.float32)


def _mixed(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    # Products of arrays wrap around.
    for factor, shift in ((_FIRST, 16), (_SECOND, 15)):
        words = (words ^ (words >> np.uint32(shift))) * np.uint32(factor)
    return words ^ (words >> np.uint32(16))
