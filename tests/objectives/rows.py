"""Rows for the tests of objectives."""

import functools

import numpy as np
import tensorflow as tf

from firth import features
from firth.tokenizers import WordPieceTokenizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = 95


def tokenizer(pieces: int = PIECES) -> WordPieceTokenizer:
    """Specials first, then as many made-up pieces."""
    return WordPieceTokenizer([*SPECIALS, *(f"w{index}" for index in range(pieces))])


def row(
    tokens,
    chunk_lengths,
    keys,
    raw_length,
    max_documents,
    word_starts=None,
    sentence_starts=None,
    example_id=0,
):
    """One row, padded to its specs."""
    count = len(tokens)
    values = {
        features.EXAMPLE_ID: example_id,
        features.RAW_TOKENS: tokens,
        features.WORD_STARTS: [1] * count if word_starts is None else word_starts,
        features.SENTENCE_STARTS: [0] * count if sentence_starts is None else sentence_starts,
        features.CHUNK_LENGTHS: chunk_lengths,
        features.DOCUMENT_KEYS: keys,
    }
    specs = features.row_specs(raw_length, max_documents)
    return {name: _padded(values[name], spec) for name, spec in specs.items()}


def empty_row(raw_length, max_documents):
    return row([], [], [], raw_length, max_documents)


def random_rows(count, length, special_tokens, max_documents, seed=0):
    """Rows of many forms, stacked: empty, of one token, full, with chunks of one token, with special ids."""
    rng = np.random.default_rng(seed)
    raw_length = length - special_tokens
    rows = [empty_row(raw_length, max_documents), row([7], [1], [1], raw_length, max_documents)]
    while len(rows) < count:
        rows.append(_random_row(rng, length, special_tokens, max_documents, len(rows)))
    return {name: np.stack([each[name] for each in rows]) for name in rows[0]}


def partners_of(rows):
    """Each row's neighbour as its partner; the first few get none."""
    partners = {name: np.roll(values, -1, axis=0) for name, values in rows.items()}
    for values in partners.values():
        values[:3] = 0
    return partners


def make_batch(objective, rows, partners, seeds):
    """Features of stacked rows, as NumPy arrays."""
    made = _mapped(objective)(rows, partners, tf.constant(seeds, tf.int64))
    return {name: value.numpy() for name, value in made.items()}


@functools.lru_cache(maxsize=1)
def _mapped(objective):
    """The objective over a batch, traced once, in the way of an exported graph."""
    signature = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in objective.specs().items()}
    return tf.function(
        lambda *batch: tf.map_fn(lambda one: objective(*one), batch, fn_output_signature=signature)
    )


def _random_row(rng, length, special_tokens, max_documents, index):
    chunks: list[int] = []
    room = length
    while len(chunks) < max_documents and room > special_tokens:
        most = room - special_tokens
        chunks.append(int(rng.choice([1, 2, most, rng.integers(1, most + 1)])) if most > 1 else 1)
        room -= chunks[-1] + special_tokens
    count = sum(chunks)
    tokens = rng.integers(5, 5 + PIECES, count)
    tokens[rng.random(count) < 0.05] = rng.choice([1, 4])
    starts = [rng.random(count) < rate for rate in (0.7, 0.15)]
    keys = rng.integers(1, 40, len(chunks))
    raw_length = length - special_tokens
    return row(tokens, chunks, keys, raw_length, max_documents, starts[0], starts[1], example_id=index)


def _padded(values, spec):
    if not spec.shape:
        return np.asarray(values, spec.dtype)
    padded = np.zeros(spec.shape, spec.dtype)
    padded[: len(values)] = values
    return padded
