"""Readers of the models that can write: stacks, decoders next to an encoder, and models of words."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.generation.token_reader import Prompts, ReadRows, TokenReader
from firth.models.backbone_with_heads import BackboneWithHeads

# Rows of the token table that a product reads where there are several states; see `times_rows`.
_TABLE_ROWS = 2048


class _CachedReader:
    """Base of readers with a cache of keys and values."""

    goes_back = True
    _token_ids, _position_ids = names.TOKEN_IDS, names.POSITION_IDS
    _model: BackboneWithHeads
    start: tuple[int, ...] = ()

    def read(self, tokens: tf.Tensor, rows: ReadRows) -> tuple[tf.Tensor, ReadRows]:
        """Reads the next tokens of each row; see `TokenReader`.

        Args:
            tokens: Tokens to read, int32 [batch, count].
            rows: Rows that have been read so far.
        """
        places = _places(tokens, rows)
        features = {**rows.facts, self._token_ids: tokens, self._position_ids: places}
        states, cache = self._model.backbone.call_with_cache(
            features, rows.cache, rows.lengths, written_in_place
        )
        return states, _read_on(rows, tokens, cache)

    def logits(self, states: tf.Tensor) -> tf.Tensor:
        """Returns the logits of the token after each state, float32 [..., vocabulary].

        Args:
            states: States that were returned, float [..., width].
        """
        in_parts = states.shape[0] != 1 and states.dtype == tf.float32
        return self._model.heads.project(self._model.backbone, states, _TABLE_ROWS if in_parts else None)


class StackReader(_CachedReader):
    """Reads prompts and then tokens with one causal stack.

    Args:
        model: Model with a causal stack and a head over the vocabulary.
    """

    def __init__(self, model: BackboneWithHeads) -> None:
        self._model = model
        # The tokens of its prompts see those after them.
        self._has_order = bool(model.backbone.config.bidirectional_prefix)
        self.predicts_prompt = not self._has_order

    def begin(self, prompts: Prompts, room: Any) -> tuple[tf.Tensor, ReadRows]:
        """Reads the prompts; see `TokenReader`.

        Args:
            prompts: Prompts of the batch.
            room: Most tokens to be read after that, an int or int32 [].
        """
        batch, length = _shape(prompts.ids)
        facts = {**prompts.facts, names.DOCUMENT_IDS: tf.ones([batch, length + room], tf.int32)}
        if self._has_order:
            places = tf.range(length + room)[tf.newaxis]
            facts[names.ATTENTION_ORDER] = tf.where(places < prompts.lengths[:, tf.newaxis], 0, places)
        rows = ReadRows(tf.zeros_like(prompts.lengths), facts, self._model.backbone.empty_cache(facts))
        states, rows = self.read(prompts.ids, rows)
        return states, rows._replace(lengths=prompts.lengths)


class DecoderReader(_CachedReader):
    """Reads prompts with an encoder, and tokens with the decoder next to it.

    Args:
        model: Model with an encoder, a decoder and a head over the vocabulary.
        start: Special tokens that the decoder starts from.
    """

    predicts_prompt = False
    _token_ids, _position_ids = names.DECODER_TOKEN_IDS, names.DECODER_POSITION_IDS

    def __init__(self, model: BackboneWithHeads, start: tuple[int, ...]) -> None:
        self._model, self.start = model, start

    def begin(self, prompts: Prompts, room: Any) -> tuple[tf.Tensor, ReadRows]:
        """Reads the prompts with the encoder, and the start tokens with the decoder; see `TokenReader`.

        Args:
            prompts: Prompts, for the encoder.
            room: Most tokens that the decoder is to read after its start, an int or int32 [].
        """
        batch, length = _shape(prompts.ids)
        real = tf.sequence_mask(prompts.lengths, length, tf.int32)
        of_decoder = tf.ones([batch, len(self.start) + room], tf.int32)
        encoded = {
            **prompts.facts,
            names.TOKEN_IDS: prompts.ids,
            names.POSITION_IDS: tf.range(length)[tf.newaxis] * real,
            names.DOCUMENT_IDS: real,
            names.DECODER_DOCUMENT_IDS: of_decoder,
        }
        facts = {**prompts.facts, names.DOCUMENT_IDS: real, names.DECODER_DOCUMENT_IDS: of_decoder}
        rows = ReadRows(tf.zeros_like(prompts.lengths), facts, self._model.backbone.empty_cache(encoded))
        return self.read(tf.tile(tf.constant([self.start], tf.int32), [batch, 1]), rows)


class WordReader:
    """Reads words by their characters, with the forward half of a bidirectional language model.

    It keeps the state of the last place alone, so it cannot go back.

    Args:
        model: Model with a biLM and its heads.
        characters: Characters of each word of the vocabulary, int32 [vocabulary, max_characters].
    """

    goes_back, predicts_prompt = False, True
    start: tuple[int, ...] = ()

    def __init__(self, model: BackboneWithHeads, characters: npt.NDArray[np.int32]) -> None:
        self._model, self._characters = model, characters

    def begin(self, prompts: Prompts, room: Any) -> tuple[tf.Tensor, ReadRows]:
        """Reads the prompts; see `TokenReader`.

        Args:
            prompts: Prompts of the batch. `facts` may hold the characters of its words, int32 [batch,
                length, max_characters], for words outside the vocabulary.
            room: Most tokens to be read after that; not needed.
        """
        _, length = _shape(prompts.ids)
        facts = dict(prompts.facts)
        spelled = facts.pop(names.CHARACTERS, None)
        real = tf.sequence_mask(prompts.lengths, length, tf.int32)
        cache = self._model.backbone.empty_cache({names.DOCUMENT_IDS: real})
        rows = ReadRows(tf.zeros_like(prompts.lengths), facts, cache)
        states, rows = self._read(self._spelled(prompts.ids) if spelled is None else spelled, real, rows)
        return states, rows._replace(lengths=prompts.lengths)

    def read(self, tokens: tf.Tensor, rows: ReadRows) -> tuple[tf.Tensor, ReadRows]:
        """Reads the next words of each row; see `TokenReader`.

        Args:
            tokens: Words to read, int32 [batch, count].
            rows: Rows that have been read so far.
        """
        return self._read(self._spelled(tokens), tf.ones_like(tokens), rows)

    def _spelled(self, tokens: tf.Tensor) -> tf.Tensor:
        return tf.gather(tf.constant(self._characters), tokens)

    def _read(self, characters: tf.Tensor, real: tf.Tensor, rows: ReadRows) -> tuple[tf.Tensor, ReadRows]:
        features = {names.CHARACTERS: characters, names.DOCUMENT_IDS: real}
        states, cache = self._model.backbone.call_with_cache(features, rows.cache, rows.lengths)
        return states, _read_on(rows, real, cache)

    def logits(self, states: tf.Tensor) -> tf.Tensor:
        """Returns the logits of the word after each state, float32 [..., vocabulary].

        Args:
            states: States that were returned, float [..., width].
        """
        return self._model.heads.project(self._model.backbone, states)


def _shape(ids: tf.Tensor) -> tuple[Any, Any]:
    """Returns the two sizes, as ints where they are known."""
    batch, length = ids.shape
    sizes = tf.shape(ids)
    return (sizes[0] if batch is None else batch), (sizes[1] if length is None else length)


def _places(tokens: tf.Tensor, rows: ReadRows) -> tf.Tensor:
    return rows.lengths[:, tf.newaxis] + tf.range(_shape(tokens)[1])


def _read_on(rows: ReadRows, tokens: tf.Tensor, cache: Any) -> ReadRows:
    return rows._replace(lengths=rows.lengths + _shape(tokens)[1], cache=cache)


def reader_of(model: BackboneWithHeads, tokenizer: Any, start: tuple[int, ...]) -> TokenReader:
    """Returns the reader of a model.

    Args:
        model: Model with a head over the vocabulary, of a family that can write.
        tokenizer: Its tokenizer.
        start: Special tokens that a decoder next to an encoder starts from.

    Raises:
        ValueError: if a model of its architecture does not write.
    """
    architecture = model.backbone.config.architecture
    if architecture not in READERS:
        raise ValueError(
            f"a model of the architecture {architecture} does not write; one of {', '.join(READERS)} does"
        )
    return READERS[architecture](model, tokenizer, start)


def word_characters(tokenizer: Any) -> npt.NDArray[np.int32]:
    """Returns the characters of each word of a vocabulary, int32 [vocabulary, max_characters].

    Args:
        tokenizer: Tokenizer of words.
    """
    with tf.init_scope():
        characters = tokenizer.characters(tf.constant(tokenizer.get_vocabulary())).numpy()
    characters[tokenizer.bos_id], characters[tokenizer.eos_id] = (
        tokenizer.bos_characters,
        tokenizer.eos_characters,
    )
    found: npt.NDArray[np.int32] = characters
    return found


READERS: dict[str, Any] = {
    "decoder": lambda model, tokenizer, start: StackReader(model),
    "encoder_decoder": lambda model, tokenizer, start: DecoderReader(model, start),
    "both_directions": lambda model, tokenizer, start: WordReader(model, word_characters(tokenizer)),
}
"""Functions that make the reader of a model, by the architecture that the model states.

Each gets the model, its tokenizer and the tokens that a decoder starts from.
"""


# Unsigned integers by the bytes of a float. GPUs add and scatter these; TensorFlow keeps signed ones of 32
# bits in the memory of the host, since most are sizes.
_INTEGERS = {2: tf.uint16, 4: tf.uint32, 8: tf.uint64}


def written_in_place(cache: tf.Tensor, tokens: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """Returns a cache with new vectors at some places of each row.

    `tf.tensor_scatter_nd_update` always copies its first input. An addition of single rows writes into the
    input if nothing else holds it, as in a loop. A sum of integers is exact, so the difference of the new
    bits from the old ones is added to these.

    Args:
        cache: Float tensor [batch, heads, length, head_width].
        tokens: Float tensor [batch, heads, count, head_width] of the same dtype.
        index: Place of the first one in each row, int32 [batch]. All places must be below the length.

    Example:

    >>> cache, tokens = tf.zeros([2, 1, 3, 1]), tf.ones([2, 1, 1, 1])
    >>> written_in_place(cache, tokens, tf.constant([0, 2]))[:, 0, :, 0].numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    bits, width = _INTEGERS[cache.dtype.size], cache.shape[-1]
    rows = tf.reshape(tf.bitcast(cache, bits), [-1, width])
    new = tf.reshape(tf.bitcast(tokens, bits), [-1, width])
    places = tf.reshape(_vector_numbers(cache, tokens, index), [-1, 1])
    # A GPU gathers floats only.
    old = tf.bitcast(tf.gather_nd(tf.reshape(cache, [-1, width]), places), bits)
    change = new - old
    written = tf.raw_ops.ScatterNdNonAliasingAdd(input=rows, indices=places, updates=change)
    sizes = [-1, *cache.shape[1:]] if None not in cache.shape[1:] else tf.shape(cache)
    return tf.bitcast(tf.reshape(written, sizes), cache.dtype)


def _vector_numbers(cache: tf.Tensor, tokens: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """Returns the number of each token's vector among all vectors, int32 [batch, heads, count]."""
    heads, length = cache.shape[1], cache.shape[2] or tf.shape(cache)[2]
    count = tokens.shape[2] or tf.shape(tokens)[2]
    firsts = tf.reshape(tf.range(tf.shape(index)[0] * heads) * length, [-1, heads, 1])
    return firsts + index[:, tf.newaxis, tf.newaxis] + tf.range(count)
