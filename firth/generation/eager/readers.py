"""Readers of the models that write, on `keras.ops`; those of `firth.generation.readers` are TensorFlow's."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from keras import ops

from firth import features as names
from firth.layers.elements.types import Tensor
from firth.models.backbone_with_heads import BackboneWithHeads


class EagerRows(NamedTuple):
    """Rows that a model has read from their beginning; the first axis of every tensor is the rows.

    Attributes:
        lengths: Number of places of each row that have been read, int32 [batch].
        facts: Tensors that do not change while a row is read, by name: [batch, ...].
        cache: State that the model keeps of the tokens it has read: a nest of tensors [batch, ...].
    """

    lengths: Tensor
    facts: Mapping[str, Tensor]
    cache: Any


class EagerReader(Protocol):
    """A model that reads prompts, and then a token of each row.

    Attributes:
        predicts_prompt: True if the states of a prompt's tokens predict the tokens after them.
        start: Special tokens that a decoder next to an encoder starts from; empty for one stack.
    """

    predicts_prompt: bool
    start: tuple[int, ...]

    def begin(
        self, ids: Tensor, lengths: Tensor, facts: Mapping[str, Tensor], room: int
    ) -> tuple[Tensor, EagerRows]:
        """Reads the prompts and, with a decoder next to an encoder, its start tokens.

        Args:
            ids: Tokens of the prompts, padded, int32 [batch, length].
            lengths: Tokens of each, int32 [batch].
            facts: Further tensors that the model reads with each prompt, by name: [batch, ...].
            room: Most tokens to be read after that.

        Returns:
            States of all that was read, float [batch, places, width], and the rows.
        """

    def read(self, tokens: Tensor, rows: EagerRows) -> tuple[Tensor, EagerRows]:
        """Reads the next tokens of each row.

        Args:
            tokens: Tokens, int32 [batch, count].
            rows: Rows as `begin` or the last call returned them.
        """

    def logits(self, states: Tensor) -> Tensor:
        """Returns the logits of the token after each state, float32 [..., vocabulary].

        Args:
            states: States as they were returned, float [..., width].
        """


class _Reader:
    """Base of readers of a model."""

    predicts_prompt = True
    start: tuple[int, ...] = ()
    _token_ids, _position_ids = names.TOKEN_IDS, names.POSITION_IDS

    def __init__(self, model: BackboneWithHeads) -> None:
        self._model = model

    def read(self, tokens: Tensor, rows: EagerRows) -> tuple[Tensor, EagerRows]:
        places = ops.expand_dims(rows.lengths, 1) + _numbers(tokens.shape[1])
        features = {**rows.facts, self._token_ids: tokens, self._position_ids: places}
        states, cache = self._model.backbone.call_with_cache(features, rows.cache, rows.lengths)
        return states, EagerRows(rows.lengths + tokens.shape[1], rows.facts, cache)

    def logits(self, states: Tensor) -> Tensor:
        return self._model.heads.project(self._model.backbone, states)


class _StackReader(_Reader):
    """Reads prompts and then tokens with one causal stack."""

    def __init__(self, model: BackboneWithHeads) -> None:
        super().__init__(model)
        # The tokens of its prompts see those after them.
        self._has_order = bool(model.backbone.config.bidirectional_prefix)
        self.predicts_prompt = not self._has_order

    def begin(
        self, ids: Tensor, lengths: Tensor, facts: Mapping[str, Tensor], room: int
    ) -> tuple[Tensor, EagerRows]:
        batch, length = ids.shape
        facts = {**facts, names.DOCUMENT_IDS: ops.ones((batch, length + room), "int32")}
        if self._has_order:
            places = _numbers(length + room)
            facts[names.ATTENTION_ORDER] = ops.where(places < ops.expand_dims(lengths, 1), 0, places)
        rows = EagerRows(ops.zeros_like(lengths), facts, self._model.backbone.empty_cache(facts))
        states, rows = self.read(ids, rows)
        return states, rows._replace(lengths=lengths)


class _DecoderReader(_Reader):
    """Reads prompts with an encoder, and tokens with the decoder next to it."""

    predicts_prompt = False
    _token_ids, _position_ids = names.DECODER_TOKEN_IDS, names.DECODER_POSITION_IDS

    def __init__(self, model: BackboneWithHeads, start: tuple[int, ...]) -> None:
        super().__init__(model)
        self.start = start

    def begin(
        self, ids: Tensor, lengths: Tensor, facts: Mapping[str, Tensor], room: int
    ) -> tuple[Tensor, EagerRows]:
        batch, length = ids.shape
        real = _is_real(lengths, length)
        facts = {
            **facts,
            names.DOCUMENT_IDS: real,
            names.DECODER_DOCUMENT_IDS: ops.ones((batch, len(self.start) + room), "int32"),
        }
        of_prompts = {names.TOKEN_IDS: ids, names.POSITION_IDS: _numbers(length) * real}
        rows = EagerRows(
            ops.zeros_like(lengths), facts, self._model.backbone.empty_cache({**facts, **of_prompts})
        )
        return self.read(ops.tile(np.array([self.start], np.int32), (batch, 1)), rows)


class _WordReader(_Reader):
    """Reads words by their characters, with the forward half of a bidirectional language model."""

    def __init__(self, model: BackboneWithHeads, characters: npt.NDArray[np.int32]) -> None:
        super().__init__(model)
        self._characters = characters

    def begin(
        self, ids: Tensor, lengths: Tensor, facts: Mapping[str, Tensor], room: int
    ) -> tuple[Tensor, EagerRows]:
        # Characters of words outside the vocabulary come with the prompts.
        facts = dict(facts)
        spelled = facts.pop(names.CHARACTERS, None)
        real = _is_real(lengths, ids.shape[1])
        cache = self._model.backbone.empty_cache({names.DOCUMENT_IDS: real})
        rows = EagerRows(ops.zeros_like(lengths), facts, cache)
        states, rows = self._read(self._spelled(ids) if spelled is None else spelled, real, rows)
        return states, rows._replace(lengths=lengths)

    def read(self, tokens: Tensor, rows: EagerRows) -> tuple[Tensor, EagerRows]:
        return self._read(self._spelled(tokens), ops.ones_like(tokens), rows)

    def _spelled(self, tokens: Tensor) -> Tensor:
        return ops.take(self._characters, tokens, axis=0)

    def _read(self, characters: Tensor, real: Tensor, rows: EagerRows) -> tuple[Tensor, EagerRows]:
        features = {names.CHARACTERS: characters, names.DOCUMENT_IDS: real}
        states, cache = self._model.backbone.call_with_cache(features, rows.cache, rows.lengths)
        return states, EagerRows(rows.lengths + real.shape[1], rows.facts, cache)


def _numbers(count: int) -> Tensor:
    return ops.expand_dims(ops.arange(count, dtype="int32"), 0)


def _is_real(lengths: Tensor, length: int) -> Tensor:
    """Returns 1 for tokens and 0 for padding, int32 [batch, length]."""
    return ops.cast(_numbers(length) < ops.expand_dims(lengths, 1), "int32")


# Functions that make the reader of a model, by the architecture that the model states; see `eager_reader_of`.
_READERS: dict[str, Any] = {
    "decoder": lambda model, start, characters: _StackReader(model),
    "encoder_decoder": lambda model, start, characters: _DecoderReader(model, start),
    "both_directions": lambda model, start, characters: _WordReader(model, characters()),
}


def eager_reader_of(model: BackboneWithHeads, start: tuple[int, ...], characters: Any) -> EagerReader:
    """Returns the reader of a model.

    Args:
        model: Model with a head over the vocabulary.
        start: Special tokens that a decoder next to an encoder starts from.
        characters: Function that returns the characters of each word of the vocabulary, int32 [vocabulary,
            max_characters]; called for a model of words alone.

    Raises:
        ValueError: if a model of its architecture does not write.
    """
    architecture = model.backbone.config.architecture
    if architecture not in _READERS:
        raise ValueError(
            f"a model of the architecture {architecture} does not write; one of {', '.join(_READERS)} does"
        )
    made: EagerReader = _READERS[architecture](model, start, characters)
    return made
