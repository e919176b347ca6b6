"""The loop that writes texts token by token, in the graph, with the state between its steps in the open."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.penalties import Seen, adjusted
from firth.generation.token_reader import Prompts, ReadRows, TokenReader, last_states

# Why a row has ended, as `Writing.ended` says it: it goes on, the end was written, there is no more room, or
# the caller has ended it.
GOES_ON, AT_END, AT_LENGTH, BY_CALLER = range(4)

# From logits, float32 [batch, vocabulary], what each row asks for, and the number of its token, int32
# [batch], to a token of each, int32 [batch].
Choose = Callable[[tf.Tensor, Controls, tf.Tensor], tf.Tensor]


State = TypeVar("State", bound=Any)


class Writing(NamedTuple):
    """Texts that are being written. Every tensor in it has the rows as its first axis; see `ReadRows`.

    Attributes:
        rows: What the model has read: all but the token written last.
        token: Token written last, int32 [batch].
        ids: Tokens so far, the end among them, int32 [batch, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, most], among all tokens
            that may be written, before biases, penalties and the sampler.
        count: Number of tokens so far, int32 [batch].
        ended: Why a row has ended, int32 [batch]; `GOES_ON` if it has not.
        seen: What penalties read of the text so far.
    """

    rows: ReadRows
    token: tf.Tensor
    ids: tf.Tensor
    log_probabilities: tf.Tensor
    count: tf.Tensor
    ended: tf.Tensor
    seen: Seen

    def taken(self, rows: tf.Tensor) -> "Writing":
        """Returns some rows, in any order and as often as is said.

        Args:
            rows: Numbers of rows, int32 [n].
        """
        taken: Writing = tf.nest.map_structure(lambda each: tf.gather(each, rows), self)
        return taken


class DecodedTexts(NamedTuple):
    """Texts that were written, or are being written: what every way of decoding gives.

    Attributes:
        ids: Tokens, the end among them, int32 [batch, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, most].
        count: Number of tokens, int32 [batch].
        ended: Why the row has ended, int32 [batch]; `GOES_ON` if it has not.
        several: The best texts of each row, `firth.generation.beam_search.Hypotheses`, where it has several;
            otherwise nothing.
    """

    ids: tf.Tensor
    log_probabilities: tf.Tensor
    count: tf.Tensor
    ended: tf.Tensor
    several: Any = ()


class Writer:
    """Writes after prompts with one model: `start`, then `go_on` until all rows have ended.

    Args:
        reader: Model that reads.
        end_id: Id of the token that ends a text.
        may_write: Which tokens may be written, bool [vocabulary], the end among them.
        choose: How a token is chosen; see `firth.generation.samplers`.
    """

    def __init__(
        self, reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], choose: Choose
    ) -> None:
        self._reader, self._end_id, self._choose = reader, end_id, choose
        self._ruled_out = np.where(may_write, 0.0, -np.inf).astype("float32")

    def start(
        self, prompts: Prompts, controls: Controls, room: Any, ahead: int = 0
    ) -> tuple[Writing, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            controls: What each row asks for.
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.
            ahead: Number of tokens that may be read beyond them.

        Returns:
            The texts so far, and the states of all that was read, float [batch, places, width].
        """
        states, rows = self._reader.begin(prompts, room + ahead)
        writing = self.empty(prompts, rows, room)
        return self.chosen(self._reader.logits(last_states(states, rows)), writing, controls), states

    def empty(self, prompts: Prompts, rows: ReadRows, room: Any, seen: Any = None) -> Writing:
        """Returns texts without a token.

        Args:
            prompts: Prompts of the batch.
            rows: What the model has read of them.
            room: Most tokens of any row that are kept, an int or int32 [].
            seen: Most tokens of any row that penalties read; None for those that are kept.
        """
        batch = tf.shape(prompts.lengths)[0]
        nothing = tf.zeros([batch], tf.int32)
        return Writing(
            rows,
            nothing,
            tf.zeros([batch, room], tf.int32),
            tf.zeros([batch, room], tf.float32),
            nothing,
            nothing,
            Seen.of_prompts(prompts, self._reader, len(self._ruled_out), room if seen is None else seen),
        )

    def go_on(self, writing: Writing, controls: Controls, steps: tf.Tensor | int) -> Writing:
        """Writes so many more tokens of each row, or fewer where it ends.

        Args:
            writing: Texts as `start` or the last call returned them.
            controls: What each row asks for.
            steps: Most tokens to write of each row, an int or int32 [].
        """
        return repeated(self.step, writing, controls, steps, lambda each: each.ended)

    def texts(self, writing: Writing) -> "DecodedTexts":
        """Returns the texts so far.

        Args:
            writing: Texts as `start` or `go_on` returned them.
        """
        return DecodedTexts(writing.ids, writing.log_probabilities, writing.count, writing.ended)

    def with_ended(self, writing: Writing, rows: tf.Tensor) -> Writing:
        """Returns the texts, of which some are to go on no further.

        Args:
            writing: Texts so far.
            rows: Which rows have ended, bool [batch].
        """
        goes_on = writing.ended == GOES_ON
        return writing._replace(ended=tf.where(goes_on & rows, BY_CALLER, writing.ended))

    def step(self, writing: Writing, controls: Controls) -> Writing:
        """Writes one more token of each row that goes on; the others stay as they are.

        Args:
            writing: Texts so far.
            controls: What each row asks for.
        """
        rows = writing.rows.standing(writing.ended != GOES_ON)
        states, rows = self._reader.read(writing.token[:, tf.newaxis], rows)
        writing = writing._replace(rows=rows)
        return self.chosen(self._reader.logits(states[:, 0]), writing, controls)

    def chosen(self, logits: tf.Tensor, writing: Writing, controls: Controls) -> Writing:
        """Returns the texts with one more token of each row that goes on.

        Args:
            logits: Logits of the token, float32 [batch, vocabulary].
            writing: Texts so far.
            controls: What each row asks for.
        """
        logits = self.allowed(logits)
        proposed = self.proposed(logits, controls, writing.seen)
        return self.extended(writing, self._choose(proposed, controls, writing.count), logits, controls)

    def proposed(self, logits: tf.Tensor, controls: Controls, seen: Seen) -> tf.Tensor:
        """Returns what `adjusted` makes of logits, float32 [batch, vocabulary].

        Args:
            logits: What `allowed` returned, float32 [batch, vocabulary].
            controls: What each row asks for.
            seen: The texts so far.
        """
        return adjusted(logits, controls, seen, self._end_id)

    def allowed(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns logits that are minus infinity for tokens that may not be written.

        Args:
            logits: float32 [..., vocabulary].
        """
        return tf.cast(logits, tf.float32) + self._ruled_out

    def extended(
        self, writing: Writing, tokens: tf.Tensor, logits: tf.Tensor, controls: Controls, which: Any = True
    ) -> Writing:
        """Returns the texts with one more token of each row that goes on.

        Args:
            writing: Texts so far.
            tokens: Token of each row, int32 [batch].
            logits: What `allowed` returned for it, float32 [batch, vocabulary].
            controls: What each row asks for.
            which: Which rows get the token if they go on, bool [batch] or [].
        """
        going = (writing.ended == GOES_ON) & which
        tokens = tf.where(going, tokens, self._end_id)
        gained = tf.gather(logits, tokens, batch_dims=1) - tf.reduce_logsumexp(logits, axis=1)
        count = writing.count + tf.cast(going, tf.int32)
        ended = tf.where(tokens == self._end_id, AT_END, tf.where(count >= controls.most, AT_LENGTH, GOES_ON))
        return writing._replace(
            token=tf.where(going, tokens, writing.token),
            ids=_put(writing.ids, writing.count, tokens, going),
            log_probabilities=_put(writing.log_probabilities, writing.count, gained, going),
            count=count,
            ended=tf.where(going, ended, writing.ended),
            seen=writing.seen.with_token(tokens, going),
        )


def repeated(
    step: Callable[[State, Controls], State],
    state: State,
    controls: Controls,
    steps: tf.Tensor | int,
    ended_of: Callable[[State], tf.Tensor],
) -> State:
    """Returns what texts are after further steps, or fewer where all rows end.

    Args:
        steps: Most steps, an int or int32 [].
        ended_of: Function from texts to why each row has ended, int32 [batch], `GOES_ON` where it has not.
    """

    def body(number: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
        return number + 1, step(state, controls)

    def goes_on(number: tf.Tensor, state: State) -> tf.Tensor:
        return (number < steps) & tf.reduce_any(ended_of(state) == GOES_ON)

    made: State = tf.while_loop(goes_on, body, (tf.constant(0), state))[1]
    return made


class OverWriting(Generic[State]):
    """What methods have in common that keep more than the `writing` of a `Writer` from step to step."""

    _writer: Writer

    def step(self, state: State, controls: Controls) -> State:
        """Returns the texts with one more step; each method says how.

        Args:
            state: Texts so far.
            controls: What each row asks for.
        """
        raise NotImplementedError

    def go_on(self, state: State, controls: Controls, steps: tf.Tensor | int) -> State:
        """Takes so many more steps, or fewer where each row ends.

        Args:
            state: Texts as `start` or the last call returned them.
            controls: What each row asks for.
            steps: Most steps, an int or int32 [].
        """
        return repeated(self.step, state, controls, steps, lambda each: each.writing.ended)

    def texts(self, state: State) -> DecodedTexts:
        """Returns the texts so far.

        Args:
            state: Texts as `start` or `go_on` returned them.
        """
        return self._writer.texts(state.writing)

    def with_ended(self, state: State, rows: tf.Tensor) -> State:
        """Returns the texts, of which some are to go on no further.

        Args:
            state: Texts so far.
            rows: Which rows have ended, bool [batch].
        """
        made: State = state._replace(writing=self._writer.with_ended(state.writing, rows))
        return made


def _put(rows: tf.Tensor, place: tf.Tensor, values: tf.Tensor, going: tf.Tensor) -> tf.Tensor:
    """Returns rows with a value more in those that go on."""
    number = tf.range(tf.shape(rows)[0])
    # A full row has ended: there is nothing to put.
    place = tf.minimum(place, tf.shape(rows)[1] - 1)
    pairs = tf.stack([number, place], axis=1)
    kept = tf.where(going, values, tf.gather(rows, place, batch_dims=1))
    return tf.tensor_scatter_nd_update(rows, pairs, kept)
