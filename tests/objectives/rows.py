"""Rows for the tests of objectives."""

import functools

import numpy as np
import tensorflow as tf

from firth import features
from firth.tokenizers import WordPieceTokenizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = 95
# More than there are cases, so that the files that share them share their graphs too.
GRAPHS = 64
FEW = 8
SEED = tf.TensorSpec([2], tf.int64)


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
    """Rows of many forms, stacked: empty, of one token, full, with chunks of one token, with special ids.

    Chunks that stand at different places of a row have no ordinary piece in common (see `own_pieces`).
    """
    rng = np.random.default_rng(seed)
    raw_length = length - special_tokens
    rows = [empty_row(raw_length, max_documents), row([9], [1], [1], raw_length, max_documents)]
    while len(rows) < count:
        rows.append(_random_row(rng, length, special_tokens, max_documents, len(rows)))
    return {name: np.stack([each[name] for each in rows]) for name in rows[0]}


def own_pieces(chunk, max_documents):
    """The pieces that random rows have in their chunks at this place."""
    return np.arange(5 + chunk, 5 + PIECES, max_documents)


def negatives_of(rows):
    """Each row's neighbour as its negative; the first few get none."""
    negatives = {name: np.roll(values, -1, axis=0) for name, values in rows.items()}
    for values in negatives.values():
        values[:3] = 0
    return negatives


def make_batch(objective, rows, negatives, seeds):
    """Features of stacked rows, as NumPy arrays; a few rows need no graph, which takes longer to make."""
    if len(seeds) <= FEW:
        each = [
            objective(
                *({name: value[place] for name, value in part.items()} for part in (rows, negatives)), seed
            )
            for place, seed in enumerate(seeds)
        ]
        return {name: np.stack([one[name].numpy() for one in each]) for name in each[0]}
    made = _mapped(objective, *_signature(rows, negatives))(rows, negatives, tf.constant(seeds, tf.int64))
    return {name: value.numpy() for name, value in made.items()}


def output_specs(objective, rows, negatives):
    """Returns the shapes and dtypes of one row's features in a graph."""
    outputs = _traced(objective, *_signature(rows, negatives)).structured_outputs
    return {name: tf.TensorSpec(value.shape, value.dtype) for name, value in outputs.items()}


@functools.lru_cache(maxsize=GRAPHS)
def _traced(objective, names, specs, negative_names, negative_specs):
    """The objective in a graph."""
    signature = (dict(zip(names, specs)), dict(zip(negative_names, negative_specs)))
    return tf.function(objective, autograph=False).get_concrete_function(*signature, SEED)


def _signature(rows, negatives):
    parts = [
        {name: tf.TensorSpec(value.shape[1:], value.dtype) for name, value in part.items()}
        for part in (rows, negatives)
    ]
    return [each for part in parts for each in (tuple(part), tuple(part.values()))]


@functools.lru_cache(maxsize=GRAPHS)
def _mapped(objective, names, specs, negative_names, negative_specs):
    """The objective over a batch of any size, in the way of an exported graph."""
    traced = _traced(objective, names, specs, negative_names, negative_specs)
    made = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in objective.specs().items()}
    one = (dict(zip(names, specs)), dict(zip(negative_names, negative_specs)), SEED)
    return tf.function(
        lambda *batch: tf.map_fn(lambda each: traced(*each), batch, fn_output_signature=made),
        input_signature=tf.nest.map_structure(
            lambda spec: tf.TensorSpec([None, *spec.shape], spec.dtype), one
        ),
        autograph=False,
    )


def _random_row(rng, length, special_tokens, max_documents, index):
    chunks: list[int] = []
    room = length
    while len(chunks) < max_documents and room > special_tokens:
        most = room - special_tokens
        chunks.append(int(rng.choice([1, 2, most, rng.integers(1, most + 1)])) if most > 1 else 1)
        room -= chunks[-1] + special_tokens
    count = sum(chunks)
    tokens = np.concatenate(
        [rng.choice(own_pieces(number, max_documents), size) for number, size in enumerate(chunks)]
    )
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
