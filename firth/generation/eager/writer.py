"""The loop that writes texts token by token with Keras on any backend; one function makes a step."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import numpy.typing as npt
from keras import ops

from firth.generation.eager.choice import EagerSeen, Values, adjusted, likeliest, sampled, uniforms
from firth.generation.eager.readers import EagerReader, EagerRows
from firth.layers.elements.types import Tensor
from firth.models.backbone_with_heads import BackboneWithHeads

# Values of `EagerTexts.ended`, those of `firth.generation.writer`, which is TensorFlow's.
RUNNING, AT_END, AT_LENGTH, BY_CALLER = range(4)
# Number of places whose logits are in memory at once.
_AT_ONCE = 64


class PromptArrays(NamedTuple):
    """Prompts of a batch with their special tokens; padding comes after each.

    Attributes:
        ids: Tokens, int32 [batch, length].
        lengths: Tokens of each prompt, int32 [batch].
        facts: Further arrays that the model reads with each text, by name: [batch, ...].
    """

    ids: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    facts: Mapping[str, npt.NDArray[Any]]


class EagerTexts:
    """Texts that are being written. The first axis of every array is the rows.

    Attributes:
        ids: Tokens so far, the end among them, int32 [batch, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, most], among all tokens
            that may be written, before biases, penalties and the sampler.
        count: Number of tokens so far, int32 [batch].
        ended: Why a row has ended, int32 [batch]; `RUNNING` if it has not.
        prompt_log_probabilities: Natural logarithm of each prompt token's probability after those before it,
            float32 [batch, length]; 0 for the first, and where they were not requested. Places after a prompt
            hold any number.
    """

    def __init__(self, prompts: PromptArrays, values: Mapping[str, npt.NDArray[Any]], room: int) -> None:
        rows, length = prompts.ids.shape
        self.ids = np.zeros((rows, room), np.int32)
        self.log_probabilities = np.zeros((rows, room), np.float32)
        self.count, self.ended = np.zeros(rows, np.int32), np.full(rows, RUNNING, np.int32)
        self.prompt_log_probabilities = np.zeros((rows, length), np.float32)
        self.values = values
        # Parts of the state on the device: cache, facts, and lengths, last tokens and text so far.
        self.cache: Any = None
        self.facts: Any = None
        self.others: Any = None

    @property
    def is_running(self) -> bool:
        """True if a text has not ended."""
        return bool((self.ended == RUNNING).any())

    def end(self, rows: Sequence[bool] | npt.NDArray[np.bool_]) -> None:
        """Ends texts that have not ended.

        Args:
            rows: True for texts that end, bool [batch].
        """
        self.ended[np.asarray(rows) & (self.ended == RUNNING)] = BY_CALLER

    def extend(self, tokens: npt.NDArray[np.int32], gained: npt.NDArray[np.float32], end_id: int) -> None:
        """Adds a token to each text that has not ended.

        Args:
            tokens: Token of each row, int32 [batch].
            gained: Logarithm of its probability, float32 [batch].
            end_id: Id of the token that ends a text.
        """
        going = np.flatnonzero(self.ended == RUNNING)
        places = self.count[going]
        self.ids[going, places], self.log_probabilities[going, places] = tokens[going], gained[going]
        self.count[going] += 1
        self.ended[going[self.count[going] >= self.values["most"][going]]] = AT_LENGTH
        self.ended[going[tokens[going] == end_id]] = AT_END


class EagerWriter:
    """Writes after prompts with one model: `start`, then `step` until all texts have ended.

    Args:
        model: Model with a head over the vocabulary.
        reader: Its reader; see `eager_reader_of`.
        end_id: Id of the token that ends a text; -1 if there is none.
        may_write: True for tokens that may be written, bool [vocabulary].
    """

    def __init__(
        self,
        model: BackboneWithHeads,
        reader: EagerReader,
        end_id: int,
        may_write: npt.NDArray[np.bool_],
    ) -> None:
        self.reader, self._end_id = reader, end_id
        self._ruled_out = np.where(may_write, 0.0, -np.inf).astype("float32")
        self._first = _compiled(self._read_prompts, model, static=(0, 1))
        self._next = _compiled(self._read_token, model, static=(0,), overwritten=(1,))
        self._scored = _compiled(self._scores, model)

    def start(
        self,
        prompts: PromptArrays,
        values: Mapping[str, npt.NDArray[Any]],
        draws: bool,
        room: int,
        scores: bool = False,
    ) -> EagerTexts:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            values: Values of the requests; see `request_arrays`.
            draws: False for the likeliest tokens, whatever the values of the sampler.
            room: Most tokens of any row; at least `most` of the values.
            scores: True for the probabilities of the prompts' tokens.
        """
        texts = EagerTexts(prompts, values, room)
        given = (*prompts, values, self._uniforms(texts, draws))
        written, texts.facts, states = self._first(draws, room, *given)
        self._take(texts, written)
        if scores and self.reader.predicts_prompt:
            texts.prompt_log_probabilities[:, 1:] = self._prompt_scores(prompts, states)
        return texts

    def step(self, texts: EagerTexts, draws: bool) -> None:
        """Writes one more token of each row that has not ended.

        Args:
            texts: Texts of `start`, which change.
            draws: As for `start`.
        """
        going = texts.ended == RUNNING
        given = (texts.facts, texts.others, texts.values, going, self._uniforms(texts, draws))
        self._take(texts, self._next(draws, texts.cache, *given))

    def _uniforms(self, texts: EagerTexts, draws: bool) -> npt.NDArray[np.float32]:
        # Texts that have not ended have the same number of tokens.
        seeds = texts.values["seeds"]
        return uniforms(seeds, int(texts.count.max())) if draws else np.zeros(len(seeds), np.float32)

    def _take(self, texts: EagerTexts, written: Any) -> None:
        tokens, gained, texts.cache, texts.others = written
        texts.extend(
            ops.convert_to_numpy(tokens).astype(np.int32), ops.convert_to_numpy(gained), self._end_id
        )

    def _read_prompts(
        self,
        draws: bool,
        room: int,
        ids: Tensor,
        lengths: Tensor,
        facts: Mapping[str, Tensor],
        values: Values,
        uniform: Tensor,
    ) -> tuple[Any, Any, Tensor]:
        ids, lengths = ops.convert_to_tensor(ids), ops.convert_to_tensor(lengths)
        states, rows = self.reader.begin(ids, lengths, facts, room)
        seen = self._seen(ids, lengths, room)
        last = ops.expand_dims(rows.lengths - 1, (1, 2))
        before = ops.take_along_axis(
            states, ops.broadcast_to(last, (*ids.shape[:1], 1, states.shape[2])), axis=1
        )
        written = self._choose(
            draws, before[:, 0], rows, seen, values, ops.ones_like(lengths, "bool"), uniform
        )
        return written, rows.facts, states

    def _seen(self, ids: Tensor, lengths: Tensor, room: int) -> EagerSeen:
        """Returns texts of which no token has been written."""
        if not self.reader.predicts_prompt:
            start = np.array([self.reader.start], np.int32).reshape(1, -1)
            ids, lengths = ops.tile(start, (ids.shape[0], 1)), ops.full_like(lengths, start.shape[1])
        return EagerSeen(ops.pad(ids, ((0, 0), (0, room))), lengths, ops.zeros_like(lengths))

    def _read_token(
        self,
        draws: bool,
        cache: Any,
        facts: Mapping[str, Tensor],
        others: Any,
        values: Values,
        going: Tensor,
        uniform: Tensor,
    ) -> Any:
        lengths, token, seen = others
        # A full row has ended, and reads its first place again.
        rows = EagerRows(ops.where(going, lengths, 0), facts, cache)
        states, rows = self.reader.read(ops.expand_dims(token, 1), rows)
        return self._choose(draws, states[:, 0], rows, seen, values, going, uniform)

    def _choose(
        self,
        draws: bool,
        states: Tensor,
        rows: EagerRows,
        seen: EagerSeen,
        values: Values,
        going: Tensor,
        uniform: Tensor,
    ) -> Any:
        """Returns the next token of each row, the logarithm of its probability, and the state with it."""
        values = {name: ops.convert_to_tensor(each) for name, each in values.items()}
        logits = ops.cast(self.reader.logits(states), "float32") + self._ruled_out
        proposed = adjusted(logits, values, seen, self._end_id)
        token = sampled(proposed, values, uniform) if draws else likeliest(proposed)
        chosen = ops.take_along_axis(logits, ops.expand_dims(token, 1), axis=1)[:, 0]
        gained = chosen - ops.logsumexp(logits, axis=1)
        return token, gained, rows.cache, (rows.lengths, token, seen.with_token(token, going))

    def _prompt_scores(self, prompts: PromptArrays, states: Tensor) -> npt.NDArray[np.float32]:
        """Returns the scores of the prompts' tokens but the first, float32 [batch, length - 1]."""
        length = prompts.ids.shape[1]
        found = [np.zeros((len(prompts.ids), 0), np.float32)]
        for place in range(0, length - 1, _AT_ONCE):
            end = min(place + _AT_ONCE, length - 1)
            scored = self._scored(states[:, place:end], prompts.ids[:, place + 1 : end + 1])
            found.append(ops.convert_to_numpy(scored))
        return np.concatenate(found, axis=1)

    def _scores(self, states: Tensor, ids: Tensor) -> Tensor:
        logits = ops.cast(self.reader.logits(states), "float32")
        chosen = ops.take_along_axis(logits, ops.expand_dims(ids, 2), axis=2)[:, :, 0]
        return chosen - ops.logsumexp(logits, axis=2)


def _compiled(
    function: Callable[..., Any],
    model: keras.Model,
    static: tuple[int, ...] = (),
    overwritten: tuple[int, ...] = (),
) -> Callable[..., Any]:
    """Returns a function that JAX compiles for each shape of its arguments; elsewhere the function itself.

    The weights of the model are read at each call.

    Args:
        static: Places of arguments that are no tensors.
        overwritten: Places of arguments that are not needed after a call.
    """
    if keras.backend.backend() != "jax":
        return function
    import jax

    variables = model.variables

    def pure(values: list[Any], *arguments: Any) -> Any:
        with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
            return function(*arguments)

    made = jax.jit(
        pure,
        static_argnums=[place + 1 for place in static],
        donate_argnums=[place + 1 for place in overwritten],
    )
    return lambda *arguments: made([each.value for each in variables], *arguments)
