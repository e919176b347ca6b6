"""Texts that are held to constraints while they are written."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.constraints.constraint_cache import ConstraintCache
from firth.constraints.matcher import CompiledConstraint, ConstraintError, Matcher, fill_masks
from firth.generation.controls import Controls
from firth.generation.results import TextInProgress
from firth.generation.writer import RUNNING
from firth.recipes.generation.request import GenerationRequest

# Forced tokens that are read at once; the logits of all of them are in memory.
_MOST_FORCED = 16


def compiled_constraint(request: GenerationRequest, cache: ConstraintCache) -> CompiledConstraint | None:
    """Returns the constraint of a request; None if it has none.

    Args:
        request: The request.
        cache: Constraints of the model.

    Raises:
        ConstraintError: for a constraint that is not valid, or that the vocabulary cannot meet.
    """
    return None if request.constraint is None else cache.compiled(request.constraint, request.finish)


class ConstrainedBatch:
    """The matchers of a batch, which follow what is written.

    Args:
        cache: Constraints of the model.
        texts: Texts of the batch.
        each_writes: Number of texts that are written for each at the same time.

    Attributes:
        stuck: True for rows whose text is not complete, and that no token may continue, bool [batch].
    """

    def __init__(self, cache: ConstraintCache, texts: Sequence[TextInProgress], each_writes: int) -> None:
        self._most, self._end_id = [each.most for each in texts], cache.tokens.end_id
        compiled = [compiled_constraint(each.request, cache) for each in texts]
        self._first: list[Matcher | None] = [
            None if each is None else each.new_matcher(text.most) for each, text in zip(compiled, texts)
        ]
        # By the tokens that were written; a text continues one of them.
        self._known: list[dict[tuple[int, ...], Matcher | None]] = [
            {} if each is None else {(): each} for each in self._first
        ]
        self._words = np.zeros([len(texts), each_writes, cache.tokens.mask_words], np.int32)
        self._runs = self.stuck = np.zeros([len(texts)], np.bool_)
        self._fill([[each] * each_writes for each in self._first])

    @property
    def mask(self) -> npt.NDArray[np.int32]:
        """Tokens that may come next, int32 [batch, texts, words], as `Controls.mask`."""
        return self._words

    def follow(
        self,
        ids: npt.NDArray[np.int32],
        count: npt.NDArray[np.int32],
        is_text: npt.NDArray[np.bool_],
        ended: npt.NDArray[np.int32],
    ) -> None:
        """Reads what was written, and makes the masks of what may come next.

        Args:
            ids: Tokens of the texts that may be continued, int32 [batch, texts, most].
            count: Number of them, int32 [batch, texts].
            is_text: False for places without a text, bool [batch, texts].
            ended: Why a row has ended, int32 [batch], as in `Writing`.
        """
        self._runs = (ended == RUNNING) & [each is not None for each in self._first]
        self._fill(
            [
                self._followed(row, ids[row], count[row], is_text[row]) if runs else [None] * count.shape[1]
                for row, runs in enumerate(self._runs)
            ]
        )
        is_stuck = self._runs & ~self._words.any(axis=(1, 2))
        self.stuck, self._runs = self.stuck | is_stuck, self._runs & ~is_stuck

    def force(
        self, count: npt.NDArray[np.int32], ended: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Takes the tokens of each text that alone may come, and makes the masks of the tokens after them.

        Works for one text a row. The end is not among them.

        Args:
            count: Number of tokens so far, int32 [batch, 1].
            ended: Why a row has ended, int32 [batch], as in `Writing`.

        Returns:
            The tokens, int32 [batch, most], and their number in each row, int32 [batch].
        """
        # The last token of a text is not read, so that no row has fewer places than are read.
        left = np.array(self._most) - 1 - count[:, 0]
        most = int(left[(ended == RUNNING) & ~self.stuck].min(initial=_MOST_FORCED))
        forced = [self._forced(row, most) if runs else [] for row, runs in enumerate(self._runs)]
        counts = np.array([*map(len, forced)], np.int32)
        tokens = np.zeros([len(forced), counts.max(initial=0)], np.int32)
        for row, own in enumerate(forced):
            tokens[row, : len(own)] = own
        return tokens, counts

    def _forced(self, row: int, most: int) -> list[int]:
        ((ids, matcher),) = self._known[row].items()
        mask, found = self._words[row], list[int]()
        while len(found) < most:
            token, before = only_token(mask[0]), mask.copy()
            if matcher is None or token in (None, self._end_id):
                break
            known: dict[tuple[int, ...], Matcher | None] = {ids: matcher}
            ids = (*ids, token)
            matcher = self._continued(known, ids, True)
            fill_masks([matcher], mask)
            if matcher is None or not mask.any():
                # The text is stuck after this token, which is written before it ends.
                mask[:] = before
                break
            found.append(token)
        self._known[row] = {ids: matcher}
        return found

    def guess(
        self, tokens: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Returns guesses with the masks of their places, if all guesses before each place are kept.

        Works for one text a row. Where one token alone may come, it is the guess.

        Args:
            tokens: Guessed tokens, int32 [batch, guesses].

        Returns:
            The guesses, int32 [batch, guesses], the masks of their places and of the token after them, int32
            [batch, guesses + 1, words], and the most tokens that a text may get, int32 [batch]: no token may
            come after the last of them.
        """
        tokens, (batch, count) = tokens.copy(), tokens.shape
        # Places after a guess that may not come are not read.
        masks = np.full([batch, count + 1, self._words.shape[2]], -1, np.int32)
        most = np.full(batch, count + 1, np.int32)
        for row in range(batch):
            if self._runs[row]:
                masks[row, 0] = self._words[row, 0]
                most[row] = self._guessed(row, tokens[row], masks[row])
        return tokens, masks, most

    def _guessed(self, row: int, tokens: npt.NDArray[np.int32], masks: npt.NDArray[np.int32]) -> int:
        (followed,) = self._known[row].values()
        # A guess that cannot be followed within the limits may be refused, and the text continues without it.
        matcher = None if followed is None else followed.copy()
        most = len(masks)
        for place in range(len(tokens)):
            only = only_token(masks[place])
            token = tokens[place] = tokens[place] if only is None else only
            is_let_through = masks[place, token // 32] >> token % 32 & 1
            if matcher is None or token == self._end_id or not is_let_through:
                break
            try:
                matcher.accept(int(token))
            except ConstraintError:
                most = place + 1
                break
            fill_masks([matcher], masks[place + 1 : place + 2])
            if not masks[place + 1].any():
                masks[place + 1], most = -1, place + 1
                break
        return most

    def _followed(
        self,
        row: int,
        ids: npt.NDArray[np.int32],
        count: npt.NDArray[np.int32],
        is_text: npt.NDArray[np.bool_],
    ) -> list[Matcher | None]:
        before = self._known[row]
        written = [tuple(map(int, own[:size])) for own, size in zip(ids, count)]
        after: dict[tuple[int, ...], Matcher | None] = {}
        for own, is_one in zip(written, is_text):
            if is_one and own not in after and (not own or own[-1] != self._end_id):
                after[own] = self._continued(before, own, len(written) == 1)
        # A row that has ended keeps what it had.
        self._known[row] = after or before
        return [after.get(own) for own in written]

    @staticmethod
    def _continued(
        before: dict[tuple[int, ...], Matcher | None], ids: tuple[int, ...], is_alone: bool
    ) -> Matcher | None:
        known = next(size for size in range(len(ids), -1, -1) if ids[:size] in before)
        parent = before[ids[:known]]
        if parent is None or known == len(ids):
            return parent
        matcher = parent if is_alone else parent.copy()
        try:
            for token in ids[known:]:
                matcher.accept(token)
        except ConstraintError:
            # It cannot be followed within the limits, and no token may come next.
            return None
        return matcher

    def _fill(self, matchers: Sequence[Sequence[Matcher | None]]) -> None:
        flat = [each for of_row in matchers for each in of_row]
        fill_masks(flat, self._words.reshape(len(flat), -1))
        for row, of_row in enumerate(matchers):
            if self._first[row] is not None:
                # No token may come after the end, nor in a place without a text.
                self._words[row, [each is None for each in of_row]] = 0


def write_constrained(
    decoding: Any,
    batches: Mapping[int, ConstrainedBatch],
    state: Any,
    controls: Controls,
    steps: tf.Tensor,
    number: tf.Tensor,
    watch: Callable[[Any], Any] = lambda state: state,
) -> Any:
    """Takes so many more steps under constraints, or fewer if all rows end.

    The graph calls the matchers between two steps. A graph that returned to Python there would copy all keys
    and values that attention keeps, since it may not change what it was given.

    Args:
        decoding: Decoder of the texts.
        batches: The matchers of each batch that is being written, by its number.
        state: Texts so far.
        controls: Values that each row requests.
        steps: Most steps, int32 [].
        number: Number of the batch, int64 [].
        watch: Function of the texts after each step, which may end rows.
    """
    rows, words = state.ended.shape, controls.mask.shape[2]
    # TensorFlow keeps functions that a graph calls for ever: they must not refer to the decoder.
    reads_forced = bool(decoding.reads_forced)

    def matched(function: Any, arguments: Any, dtypes: Any, shapes: Any) -> list[tf.Tensor]:
        def called(number: Any, *arrays: Any) -> Any:
            return function(batches[int(number)], *arrays)

        found = tf.numpy_function(called, [number, *arguments], dtypes)
        return [tf.ensure_shape(each, shape) for each, shape in zip(found, shapes, strict=True)]

    def follow(batch: ConstrainedBatch, *written: Any) -> tuple[Any, ...]:
        _, count, _, ended = written
        batch.follow(*written)
        forced = batch.force(count, ended) if reads_forced else (ended[:, np.newaxis], ended)
        # TensorFlow may read the array after the call.
        return batch.mask.copy(), batch.stuck, *forced

    def step(state: Any, mask: tf.Tensor, tokens: tf.Tensor, counts: tf.Tensor) -> Any:
        if decoding.guesses:
            guesses, offered = decoding.guess(state, controls)
            shapes = [guesses.shape, [*rows, guesses.shape[1] + 1, words], rows]
            guesses, masks, most = matched(ConstrainedBatch.guess, [guesses], [tf.int32] * 3, shapes)
            return decoding.check(state, controls._replace(mask=masks), guesses, offered, most)
        held = controls._replace(mask=mask)
        if not reads_forced:
            return decoding.step(state, held)
        read_forced = functools.partial(decoding.read_forced, state, held, tokens, counts)
        return tf.cond(tf.reduce_any(counts > 0), read_forced, lambda: decoding.step(state, held))

    def body(place: tf.Tensor, state: Any) -> tuple[tf.Tensor, Any]:
        written = [*decoding.unfinished(state), state.ended]
        dtypes, shapes = (
            [tf.int32, tf.bool, tf.int32, tf.int32],
            [controls.mask.shape, rows, [*rows, None], rows],
        )
        mask, stuck, tokens, counts = matched(follow, written, dtypes, shapes)
        state = decoding.with_ended(state, stuck)
        # All rows may be stuck.
        runs = tf.reduce_any(state.ended == RUNNING)
        return place + 1, watch(tf.cond(runs, lambda: step(state, mask, tokens, counts), lambda: state))

    def continues(place: tf.Tensor, state: Any) -> tf.Tensor:
        return (place < steps) & tf.reduce_any(state.ended == RUNNING)

    return tf.while_loop(continues, body, (tf.constant(0), state))[1]


def only_token(mask: npt.NDArray[np.int32]) -> int | None:
    """Returns the token that alone may come; None if several may, or none.

    Args:
        mask: Words of a mask, int32 [words].

    Example:

    >>> only_token(np.array([0, 4], np.int32)), only_token(np.array([1, 4], np.int32))
    (34, None)
    """
    (places,) = mask.nonzero()
    if len(places) != 1:
        return None
    bits = int(mask[places[0]]) & 0xFFFFFFFF
    return 32 * int(places[0]) + bits.bit_length() - 1 if bits.bit_count() == 1 else None
