"""Replaces spans by sentinels: the encoder's inputs, and the targets."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.objectives.transforms.documents import Parts, Text, count_by_document, within_document, write_parts
from firth.objectives.transforms.spans import Noise


def sentinel_inputs(
    text: Text, noise: Noise, sentinel_ids: npt.NDArray[np.int32], sep_id: int, length: int
) -> Parts:
    """Returns the tokens that are left of each document, one sentinel for each span, and `[SEP]` after them.

    Args:
        sentinel_ids: Ids of the sentinels, int32 [sentinels].

    Example: the paper's own, with `<extra_id_0>` for `<X>` and `<extra_id_1>` for `<Y>`.

    >>> from firth.objectives.transforms.documents import ordinary_table, read_text
    >>> from firth.objectives.transforms.spans import read_noise
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, "<extra_id_1>", "<extra_id_0>"]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> row = {"tokens": tokenizer.tokenize(" ".join(words)), "chunk_lengths": tf.constant([11])}
    >>> text = read_text(row, ordinary_table(tokenizer))
    >>> noise = read_noise(text, [word in ("for", "inviting", "last") for word in words])
    >>> inputs = sentinel_inputs(text, noise, tokenizer.sentinel_ids, tokenizer.sep_id, length=11)
    >>> tokenizer.detokenize(inputs.ids).numpy().decode()
    'Thank you <extra_id_0> me to your party <extra_id_1> week . [SEP]'
    >>> targets = sentinel_targets(text, noise, tokenizer.sentinel_ids, tokenizer.sep_id, length=6)
    >>> tokenizer.detokenize(targets.ids).numpy().decode()
    '<extra_id_0> for inviting <extra_id_1> last [SEP]'
    """
    is_kept = text.is_token & ~noise.is_noise
    shown = tf.where(noise.is_start, _sentinels(text, noise, sentinel_ids), text.tokens)
    emitted = is_kept | noise.is_start
    counts = count_by_document(emitted, text)
    places = tf.cumsum(tf.cast(emitted, tf.int32), exclusive=True) + text.documents
    return _closed(text, counts, sep_id, [(emitted, places, shown)], length)


def sentinel_targets(
    text: Text,
    noise: Noise,
    sentinel_ids: npt.NDArray[np.int32],
    sep_id: int,
    length: int,
    closing_sentinel: bool = False,
) -> Parts:
    """Returns each sentinel with the tokens that it stands for, and a closing piece after them.

    Args:
        sentinel_ids: Ids of the sentinels, int32 [sentinels].
    """
    spans = count_by_document(noise.is_start, text)
    counts = spans + count_by_document(noise.is_noise, text)
    emitted = tf.cast(noise.is_noise, tf.int32) + tf.cast(noise.is_start, tf.int32)
    places = tf.cumsum(emitted, exclusive=True) + text.documents
    pieces = [
        (noise.is_start, places, _sentinels(text, noise, sentinel_ids)),
        (noise.is_noise, places + tf.cast(noise.is_start, tf.int32), text.tokens),
    ]
    closing = _numbered(sentinel_ids, spans) if closing_sentinel else sep_id
    return _closed(text, counts, closing, pieces, length)


def _closed(
    text: Text,
    counts: tf.Tensor,
    closing: tf.Tensor,
    pieces: Sequence[tuple[tf.Tensor, tf.Tensor, tf.Tensor]],
    length: int,
) -> Parts:
    """Returns the pieces with something after each document, for which its number has left a place."""
    exists = text.lengths > 0
    ends = tf.cumsum(counts) + tf.range(tf.size(counts))
    closing = tf.broadcast_to(tf.cast(closing, tf.int32), tf.shape(counts))
    lengths = tf.where(exists, counts + 1, 0)
    return write_parts(length, lengths, [*pieces, (exists, ends, closing)])


def _sentinels(text: Text, noise: Noise, sentinel_ids: npt.NDArray[np.int32]) -> tf.Tensor:
    return _numbered(sentinel_ids, within_document(noise.is_start, text))


def _numbered(sentinel_ids: npt.NDArray[np.int32], numbers: tf.Tensor) -> tf.Tensor:
    table = tf.constant(np.asarray(sentinel_ids, np.int32))
    return tf.gather(table, tf.minimum(numbers, tf.size(table) - 1))
