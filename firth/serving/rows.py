"""Parses serialized rows to dense tensors, inside the graph."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from firth import features as names
from firth.tokenizers.graph.word_characters import word_characters


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
