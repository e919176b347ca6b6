"""Encodes raw strings and serialized rows to the features that a model reads, inside the graph."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from firth import features as names
from firth.serving.signature import Reading
from firth.tokenizers.graph.word_characters import word_characters
from firth.tokenizers.storage import AnyTokenizer
from firth.tokenizers.word import WordTokenizer


class Encoded(NamedTuple):
    """A batch of texts, encoded for a model.

    Attributes:
        features: Tensors by name, int32 [batch, longest], padded to the longest of the batch; words also have
            their characters, int32 [batch, longest, max_characters].
        ids: Ids of the text's own tokens, ragged int32 [batch, (tokens)].
        tokens: Strings of the text's own tokens, ragged [batch, (tokens)].
        before: Number of special tokens before the text's own ones.
        after: Number of special tokens after them.
        reading: How much of each text is read.
    """

    features: dict[str, tf.Tensor]
    ids: tf.RaggedTensor
    tokens: tf.RaggedTensor
    before: int
    after: int
    reading: Reading

    def own(self, hidden: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the vectors of the text's own tokens and their number.

        Args:
            hidden: Vectors, float [batch, longest, ...], one or more for each place of the row.

        Returns:
            float32 [batch, longest less special tokens, ...] with zeros after, and int32 [batch].
        """
        count = tf.cast(self.ids.row_lengths(), tf.int32)
        vectors = tf.cast(hidden[:, self.before : tf.shape(hidden)[1] - self.after], tf.float32)
        real = tf.sequence_mask(count, tf.shape(vectors)[1])
        real = tf.reshape(real, tf.concat([tf.shape(real), tf.ones([vectors.shape.rank - 2], tf.int32)], 0))
        return tf.where(real, vectors, 0.0), count


def encode(
    ids: tf.RaggedTensor, tokenizer: AnyTokenizer, before: tuple[int, ...], after: tuple[int, ...]
) -> Encoded:
    """Encodes pieces of texts as one segment each.

    Args:
        ids: Pieces of the texts, which fit a row, ragged int32 [batch, (pieces)].
    """
    vocabulary = tf.constant(tokenizer.get_vocabulary())
    tokens = ids.with_flat_values(tf.gather(vocabulary, ids.flat_values))
    around = len(before) + len(after)
    lengths = tf.cast(ids.row_lengths(), tf.int32) + around
    features = _row_features(lengths, around)
    # Ragged rows are concatenated by seventy operations.
    longest = tf.shape(features[names.DOCUMENT_IDS])[1]
    inside = ids.to_tensor(tokenizer.pad_id, shape=tf.stack([-1, longest - around]))
    rows = tf.pad(inside, [[0, 0], [len(before), len(after)]], constant_values=tokenizer.pad_id)
    places = tf.range(longest)
    for place, each in enumerate(before):
        rows = tf.where(places == place, each, rows)
    for back, each in enumerate(reversed(after), start=1):
        rows = tf.where(places == lengths[:, tf.newaxis] - back, each, rows)
    features[names.TOKEN_IDS] = rows
    return Encoded(features, ids, tokens, len(before), len(after), Reading.of(ids, ids))


def with_last_segment(encoded: Encoded, segment: int) -> Encoded:
    """Returns texts whose last special token is a segment of its own."""
    features = encoded.features
    lengths = tf.reduce_sum(features[names.DOCUMENT_IDS], axis=1, keepdims=True)
    is_last = tf.range(tf.shape(features[names.DOCUMENT_IDS])[1]) == lengths - 1
    segments = tf.where(is_last, segment, features[names.SEGMENT_IDS])
    return encoded._replace(features={**features, names.SEGMENT_IDS: segments})


def encode_words(words: tf.RaggedTensor, tokenizer: WordTokenizer) -> Encoded:
    """Encodes words of texts as `<S> words </S>`, for a model that reads characters.

    Args:
        words: Words of the texts, which fit a row, ragged string [batch, (words)].
    """
    ids = words.with_flat_values(tf.zeros_like(words.flat_values, tf.int32))
    features = word_features(words, tokenizer)
    return Encoded(features, ids, words, 1, 1, Reading.of(words, words))


def word_features(words: tf.RaggedTensor, tokenizer: WordTokenizer) -> dict[str, tf.Tensor]:
    """Returns the features of texts as `<S> words </S>`, for a model that reads characters.

    Args:
        words: Words of each text, ragged string [batch, (words)].
    """
    lengths = tf.cast(words.row_lengths(), tf.int32) + 2
    features = _row_features(lengths, 2)
    longest = tf.shape(features[names.DOCUMENT_IDS])[1]
    spelled = words.with_flat_values(tokenizer.characters(words.flat_values))
    inside = spelled.to_tensor(shape=tf.stack([-1, longest - 2, tokenizer.max_characters]))
    characters = tf.pad(inside, [[0, 0], [1, 1], [0, 0]])
    places = tf.range(longest)[tf.newaxis]
    last = lengths[:, tf.newaxis] - 1
    characters = tf.where((places == 0)[:, :, tf.newaxis], tokenizer.bos_characters, characters)
    characters = tf.where((places == last)[:, :, tf.newaxis], tokenizer.eos_characters, characters)
    return {**features, names.CHARACTERS: characters}


def repeat_ids(ids: tuple[int, ...], batch: tf.Tensor) -> tf.Tensor:
    """Returns the same ids for each row of a batch, int32 [batch, ids]."""
    return tf.tile(tf.reshape(tf.constant(ids, tf.int32), [1, len(ids)]), [batch, 1])


def _row_features(lengths: tf.Tensor, shortest: int) -> dict[str, tf.Tensor]:
    # The maximum over an empty batch is the smallest integer.
    longest = tf.maximum(tf.reduce_max(lengths), shortest)
    real = tf.sequence_mask(lengths, longest, tf.int32)
    return {
        names.SEGMENT_IDS: tf.zeros_like(real),
        names.POSITION_IDS: tf.range(longest) * real,
        names.DOCUMENT_IDS: real,
    }


def parse_rows(examples: tf.Tensor, specs: Mapping[str, names.Spec]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses rows and the negative rows that are stored with them.

    Args:
        examples: string [batch], serialized tf.train.Examples with the fields of `specs` as lists of int64 or
            float, as long as they need to be; `words` as bytes instead of `characters`.

    Returns:
        rows and negative rows: dicts of [batch, ...] tensors as `specs` says, zeros after each list.

    Raises (when run):
        tf.errors.InvalidArgumentError: if a text is not a row, or a list is longer than its spec.
    """
    characters = specs.get(names.CHARACTERS)
    specs = {name: spec for name, spec in specs.items() if name != names.CHARACTERS}
    negative_specs = {name: spec for name, spec in specs.items() if spec.shape}
    schema: dict[str, Any] = {names.WORDS: tf.io.RaggedFeature(tf.string)} if characters else {}
    schema.update({name: row_parser(spec) for name, spec in specs.items()})
    schema.update({names.NEGATIVE_PREFIX + name: row_parser(spec) for name, spec in negative_specs.items()})
    parsed = tf.io.parse_example(examples, schema)
    rows = {name: _dense(name, parsed[name], spec) for name, spec in specs.items()}
    negatives = {
        name: _dense(names.NEGATIVE_PREFIX + name, parsed[names.NEGATIVE_PREFIX + name], spec)
        for name, spec in negative_specs.items()
    }
    negatives |= {name: tf.zeros_like(rows[name]) for name in specs.keys() - negative_specs.keys()}
    if characters:
        rows[names.CHARACTERS] = _characters(parsed[names.WORDS], characters)
        negatives[names.CHARACTERS] = tf.zeros_like(rows[names.CHARACTERS])
    return rows, negatives


def row_parser(spec: names.Spec) -> Any:
    """Returns how `tf.io.parse_example` reads a field of a row: floats as float32, all else as int64."""
    dtype = tf.float32 if tf.as_dtype(spec.dtype).is_floating else tf.int64
    if not spec.shape:
        return tf.io.FixedLenFeature([], dtype)
    inner = [tf.io.RaggedFeature.UniformRowLength(size) for size in spec.shape[1:]]
    return tf.io.RaggedFeature(dtype, partitions=inner)


def _characters(words: tf.RaggedTensor, spec: names.Spec) -> tf.Tensor:
    made = words.with_flat_values(word_characters(words.flat_values, spec.shape[1]))
    return made.to_tensor(shape=[None, *spec.shape])


def _dense(name: str, values: tf.Tensor | tf.RaggedTensor, spec: names.Spec) -> tf.Tensor:
    if not spec.shape:
        return tf.cast(values, spec.dtype)
    length = spec.shape[0]
    message = f"{name}: a row is longer than this model's rows, {length}"
    fits = tf.debugging.assert_less_equal(values.row_lengths(), length, message)
    with tf.control_dependencies([fits]):
        return tf.cast(values.to_tensor(shape=[None, *spec.shape]), spec.dtype)
