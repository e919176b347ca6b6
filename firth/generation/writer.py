"""The decoding loop: writes texts token by token in a graph, with explicit state between steps."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.penalties import Seen, adjusted
from firth.generation.token_reader import Prompts, ReadRows, TokenReader, last_states

# Values of `Writing.ended`: the row has not ended, the end was written, there is no more room, or the caller
# has ended it.
RUNNING, AT_END, AT_LENGTH, BY_CALLER = range(4)

# Function from logits, float32 [batch, vocabulary], the values that each row requests, and the number of its
# token, int32 [batch], to a token of each row, int32 [batch].
Choose = Callable[[tf.Tensor, Controls, tf.Tensor], tf.Tensor]


State = TypeVar("State", bound=Any)


class Writing(NamedTuple):
    """State of texts that are being written; the first axis of every tensor is the rows, as in `ReadRows`.

    Attributes:
        rows: Rows that the model has read: all but the token written last.
        token: Token written last, int32 [batch].
        ids: Tokens so far, the end among them, int32 [batch, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, most], among all tokens
            that may be written, before biases, penalties and the sampler.
        count: Number of tokens so far, int32 [batch].
        ended: Why a row has ended, int32 [batch]; `RUNNING` if it has not.
        seen: Text so far as penalties read it.
    """

    rows: ReadRows
    token: tf.Tensor
    ids: tf.Tensor
    log_probabilities: tf.Tensor
    count: tf.Tensor
    ended: tf.Tensor
    seen: Seen

    def taken(self, rows: tf.Tensor) -> "Writing":
        """Returns the rows of these numbers, in their order; a row may be taken several times.

        Args:
            rows: Numbers of rows, int32 [n].
        """
        return tf.nest.map_structure(lambda each: tf.gather(each, rows), self)


class DecodedTexts(NamedTuple):
    """Texts that were written, or are being written, in the form that every decoder returns.

    Attributes:
        ids: Tokens, the end among them, int32 [batch, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, most].
        count: Number of tokens, int32 [batch].
        ended: Why the row has ended, int32 [batch]; `RUNNING` if it has not.
        several: The best texts of each row, `firth.generation.beam_search.Hypotheses`, after a beam search;
            otherwise empty.
    """

    ids: tf.Tensor
    log_probabilities: tf.Tensor
    count: tf.Tensor
    ended: tf.Tensor
    several: Any = ()


class UnfinishedTexts(NamedTuple):
    """The texts of a batch that may still be continued.

    Attributes:
        ids: Tokens so far, int32 [batch, texts, most]; 0 after them.
        count: Number of tokens so far, int32 [batch, texts].
        is_text: False for a place that holds none, bool [batch, texts].
    """

    ids: tf.Tensor
    count: tf.Tensor
    is_text: tf.Tensor


class LatestTokens(NamedTuple):
    """The last token of each text that may still be continued.

    Attributes:
        tokens: int32 [batch, texts].
        count: Number of tokens so far, int32 [batch, texts].
        parents: Text of the step before that each continues, int32 [batch, texts]; None where each continues
            itself.
    """

    tokens: tf.Tensor
    count: tf.Tensor
    parents: tf.Tensor | None


class Decoder(Generic[State]):
    """Base of decoders: steps change a state until its attribute `ended` has no `RUNNING` row.

    Attributes:
        reads_forced: True if it has `read_forced`, which reads tokens that a constraint forces in one call.
        guesses: Number of tokens that it guesses in a step, by its `guess` and `check`; 0 if it does not.
        texts_of_row: Number of texts that it writes for a row at the same time.
    """

    reads_forced = False
    guesses = 0
    texts_of_row = 1

    def step(self, state: State, controls: Controls) -> State:
        """Writes the next token or tokens of each row that has not ended.

        Args:
            state: Texts so far.
            controls: Values that each row requests.
        """
        raise NotImplementedError

    def go_on(
        self,
        state: State,
        controls: Controls,
        steps: tf.Tensor | int,
        watch: Callable[[State], State] = lambda state: state,
    ) -> State:
        """Takes so many more steps, or fewer if all rows end.

        Args:
            state: Texts as `start` or the last call returned them.
            controls: Values that each row requests.
            steps: Most steps, an int or int32 [].
            watch: Function of the texts after each step, which may end rows.
        """

        def body(number: tf.Tensor, state: State) -> tuple[tf.Tensor, State]:
            return number + 1, watch(self.step(state, controls))

        def continues(number: tf.Tensor, state: State) -> tf.Tensor:
            return (number < steps) & tf.reduce_any(state.ended == RUNNING)

        return tf.while_loop(continues, body, (tf.constant(0), state))[1]

    def with_ended(self, state: State, rows: tf.Tensor) -> State:
        """Returns the texts after the caller has ended some of them.

        Args:
            state: Texts so far.
            rows: True for rows that end, bool [batch].
        """
        return state._replace(ended=tf.where((state.ended == RUNNING) & rows, BY_CALLER, state.ended))


class Writer(Decoder[Writing]):
    """Writes after prompts with one model: `start`, then `go_on` until all rows have ended.

    Args:
        reader: Model that reads.
        end_id: Id of the token that ends a text.
        may_write: True for tokens that may be written, bool [vocabulary], the end among them.
        choose: Function that chooses a token; see `firth.generation.samplers`.
    """

    def __init__(
        self, reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], choose: Choose
    ) -> None:
        self._reader, self._end_id, self._choose = reader, end_id, choose
        self._ruled_out = np.where(may_write, 0.0, -np.inf).astype("float32")
        # Rows have different numbers of forced tokens, and the padding after them is read too.
        self.reads_forced = reader.goes_back

    def start(
        self, prompts: Prompts, controls: Controls, room: Any, ahead: int = 0
    ) -> tuple[Writing, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            controls: Values that each row requests.
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
            rows: Rows that the model has read of them.
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

    def texts(self, writing: Writing) -> DecodedTexts:
        """Returns the texts so far.

        Args:
            writing: Texts as `start` or `go_on` returned them.
        """
        return DecodedTexts(writing.ids, writing.log_probabilities, writing.count, writing.ended)

    def unfinished(self, writing: Writing) -> UnfinishedTexts:
        """Returns the text of each row.

        Args:
            writing: Texts as `start` or `go_on` returned them.
        """
        is_text = tf.ones_like(writing.count[:, tf.newaxis], tf.bool)
        return UnfinishedTexts(writing.ids[:, tf.newaxis], writing.count[:, tf.newaxis], is_text)

    def latest(self, writing: Writing) -> LatestTokens:
        """Returns the last token of each row.

        Args:
            writing: Texts so far.
        """
        return LatestTokens(writing.token[:, tf.newaxis], writing.count[:, tf.newaxis], None)

    def step(self, writing: Writing, controls: Controls) -> Writing:
        """Writes one more token of each row that has not ended.

        Args:
            writing: Texts so far.
            controls: Values that each row requests.
        """
        rows = writing.rows.standing(writing.ended != RUNNING)
        states, rows = self._reader.read(writing.token[:, tf.newaxis], rows)
        writing = writing._replace(rows=rows)
        return self.chosen(self._reader.logits(states[:, 0]), writing, controls)

    def read_forced(
        self, writing: Writing, controls: Controls, tokens: tf.Tensor, counts: tf.Tensor
    ) -> Writing:
        """Writes the tokens that a constraint forces, and one more token of each row that has not ended.

        The texts are those of a step for each token, since no other token may come.

        Args:
            writing: Texts so far.
            controls: Values that each row requests, with the mask of the token after the forced ones.
            tokens: Forced tokens without the end, fewer than any row may still write, int32 [batch, most].
            counts: Number of them in each row, int32 [batch].
        """
        before = writing.rows.standing(writing.ended != RUNNING)
        states, rows = self._reader.read(tf.concat([writing.token[:, tf.newaxis], tokens], axis=1), before)
        logits = self.allowed(self._reader.logits(states))

        def body(place: tf.Tensor, writing: Writing) -> tuple[tf.Tensor, Writing]:
            made = self.extended(writing, tokens[:, place], logits[:, place], controls, place < counts)
            return place + 1, made

        read = writing._replace(rows=rows._replace(lengths=before.lengths + counts + 1))
        loop = (tf.constant(0), read)
        _, writing = tf.while_loop(lambda place, _: place < tf.shape(tokens)[1], body, loop)
        return self.chosen(tf.gather(logits, counts, batch_dims=1), writing, controls)

    def chosen(self, logits: tf.Tensor, writing: Writing, controls: Controls) -> Writing:
        """Returns the texts with one more token of each row that has not ended.

        Args:
            logits: Logits of the token, float32 [batch, vocabulary].
            writing: Texts so far.
            controls: Values that each row requests.
        """
        logits = self.allowed(logits)
        proposed = self.proposed(logits, controls, writing.seen)
        return self.extended(writing, self._choose(proposed, controls, writing.count), logits, controls)

    def proposed(self, logits: tf.Tensor, controls: Controls, seen: Seen) -> tf.Tensor:
        """Returns logits with biases and penalties, float32 [batch, vocabulary]; see `adjusted`.

        Args:
            logits: Logits of `allowed`, float32 [batch, vocabulary].
            controls: Values that each row requests.
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
        """Returns the texts with one more token of each row that has not ended.

        Args:
            writing: Texts so far.
            tokens: Token of each row, int32 [batch].
            logits: Logits of `allowed` for it, float32 [batch, vocabulary].
            controls: Values that each row requests.
            which: True for rows that get the token if they have not ended, bool [batch] or [].
        """
        going = (writing.ended == RUNNING) & which
        tokens = tf.where(going, tokens, self._end_id)
        gained = tf.gather(logits, tokens, batch_dims=1) - tf.reduce_logsumexp(logits, axis=1)
        count = writing.count + tf.cast(going, tf.int32)
        ended = tf.where(tokens == self._end_id, AT_END, tf.where(count >= controls.most, AT_LENGTH, RUNNING))
        return writing._replace(
            token=tf.where(going, tokens, writing.token),
            ids=_put(writing.ids, writing.count, tokens, going),
            log_probabilities=_put(writing.log_probabilities, writing.count, gained, going),
            count=count,
            ended=tf.where(going, ended, writing.ended),
            seen=writing.seen.with_token(tokens, going),
        )


class WritingDecoder(Decoder[State]):
    """Base of decoders whose state has the `writing` of a `Writer` among others."""

    _writer: Writer

    def texts(self, state: State) -> DecodedTexts:
        """Returns the texts so far.

        Args:
            state: Texts as `start` or `go_on` returned them.
        """
        return self._writer.texts(state.writing)

    def unfinished(self, state: State) -> UnfinishedTexts:
        """Returns the text of each row.

        Args:
            state: Texts as `start` or `go_on` returned them.
        """
        return self._writer.unfinished(state.writing)

    def with_ended(self, state: State, rows: tf.Tensor) -> State:
        """Returns the texts after the caller has ended some of them.

        Args:
            state: Texts so far.
            rows: True for rows that end, bool [batch].
        """
        return state._replace(writing=self._writer.with_ended(state.writing, rows))


def _put(rows: tf.Tensor, place: tf.Tensor, values: tf.Tensor, going: tf.Tensor) -> tf.Tensor:
    """Returns rows with one more value in those that have not ended."""
    number = tf.range(tf.shape(rows)[0])
    # A full row has ended, and gets no value.
    place = tf.minimum(place, tf.shape(rows)[1] - 1)
    pairs = tf.stack([number, place], axis=1)
    kept = tf.where(going, values, tf.gather(rows, place, batch_dims=1))
    return tf.tensor_scatter_nd_update(rows, pairs, kept)
