"""Parses serialized rows to dense tensors, inside the graph."""

from typing import Any

import tensorflow as tf

from firth import features as names
from firth.tokenizers.graph.word_characters import word_characters


def parse_rows(examples: tf.Tensor, specs: dict[str, names.Spec]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses rows and the negative rows that are stored with them.

    Args:
        examples: string [batch], serialized tf.train.Examples with the fields of `features.row_specs` as
            lists of int64, as long as they need to be; in the place of `characters`, `words` as bytes.
        specs: The row's specs.

    Returns:
        rows and negative rows: dicts of [batch, ...] tensors as `specs` says, zeros after each list. A row
        without a negative row gets zeros.

    Raises (when run):
        tf.errors.InvalidArgumentError: if a text is no row, or a list is longer than its spec.
    """
    characters = specs.get(names.CHARACTERS)
    specs = {name: spec for name, spec in specs.items() if name != names.CHARACTERS}
    negative_specs = {name: spec for name, spec in specs.items() if spec.shape}
    schema: dict[str, Any] = {names.WORDS: tf.io.RaggedFeature(tf.string)} if characters else {}
    schema.update({name: _parser(spec) for name, spec in specs.items()})
    schema.update({names.NEGATIVE_PREFIX + name: _parser(spec) for name, spec in negative_specs.items()})
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


def _characters(words: tf.RaggedTensor, spec: names.Spec) -> tf.Tensor:
    made = words.with_flat_values(word_characters(words.flat_values, spec.shape[1]))
    return made.to_tensor(shape=[None, *spec.shape])


def _parser(spec: names.Spec) -> Any:
    if spec.shape:
        return tf.io.RaggedFeature(tf.int64)
    return tf.io.FixedLenFeature([], tf.int64)


def _dense(name: str, values: tf.Tensor | tf.RaggedTensor, spec: names.Spec) -> tf.Tensor:
    if not spec.shape:
        return tf.cast(values, spec.dtype)
    (length,) = spec.shape
    message = f"{name}: a row is longer than this model's rows, {length}"
    fits = tf.debugging.assert_less_equal(values.row_lengths(), length, message)
    with tf.control_dependencies([fits]):
        return tf.cast(values.to_tensor(shape=[None, length]), spec.dtype)
