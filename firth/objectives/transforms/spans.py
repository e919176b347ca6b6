"""Chooses random spans or single tokens to corrupt, and replaces spans by sentinels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.objectives.transforms.documents import (
    Parts,
    Text,
    count_by_document,
    find_parts,
    within_document,
    write_parts,
)


class Noise(NamedTuple):
    """The tokens of a row that are corrupted.

    A special piece of the text is never corrupted. A span around one continues after it and counts as one
    span.

    Attributes:
        is_noise: bool [raw_length], True on corrupted tokens.
        is_start: bool [raw_length], True on the first token of each span.
    """

    is_noise: tf.Tensor
    is_start: tf.Tensor


def read_noise(text: Text, is_noise: tf.Tensor) -> Noise:
    """Returns noise with its spans: consecutive tokens of a document, special pieces left aside, are one
    span.

    Args:
        is_noise: bool [raw_length], True on ordinary tokens only.
    """
    is_noise = tf.convert_to_tensor(is_noise)
    size, slot = tf.size(text.tokens), _slot_of(text)
    slots = tf.math.unsorted_segment_sum(
        tf.cast(is_noise, tf.int32), tf.where(text.ordinary, slot, size), size + 1
    )
    continues = (tf.gather(slots, tf.maximum(slot - 1, 0)) > 0) & (within_document(text.ordinary, text) > 0)
    return Noise(is_noise, is_noise & ~continues)


def random_spans(
    text: Text, noise_counts: tf.Tensor, span_counts: tf.Tensor, random_roll: bool, seeds: tf.Tensor
) -> Noise:
    """Returns noise in spans: noise and kept tokens are both cut at random, and then alternate.

    A document begins with kept tokens and ends with noise (Raffel et al. 2019, in the reference code). With
    `random_roll` it is then rotated by a random number of tokens. A rotation never cuts a span in two, which
    would need one more sentinel.

    Args:
        noise_counts: Number of tokens to corrupt, int32 [max_documents]; fewer than a document's ordinary
            ones.
        span_counts: Number of spans that they make, int32 [max_documents]; at most the number of noise
            tokens, and of kept ones.
        seeds: Seeds, int32 or int64 [2, 2].
    """
    counts = count_by_document(text.ordinary, text)
    size = tf.size(text.tokens)
    documents, offsets = find_parts(counts, size)
    noise = tf.gather(tf.concat([noise_counts, [0]], 0), documents)
    spans = tf.gather(tf.concat([span_counts, [0]], 0), documents)
    # The first slots of a document are its noise, the others its kept tokens.
    is_kept = offsets >= noise
    inside = tf.where(is_kept, offsets - noise, offsets)
    segments = _random_segments(2 * documents + tf.cast(is_kept, tf.int32), inside, spans, seeds[0])
    turns = tf.argsort(2 * (documents * size + segments) + tf.cast(~is_kept, tf.int32), stable=True)
    taken = tf.gather(~is_kept & (noise > 0), turns)
    if random_roll:
        taken = _roll(taken, documents, offsets, counts, seeds[1])
    return read_noise(text, _of_tokens(text, taken))


def random_tokens(text: Text, noise_counts: tf.Tensor, seed: tf.Tensor) -> Noise:
    """Returns noise of single tokens, each as likely as any other of its document.

    Args:
        noise_counts: Number of tokens to corrupt, int32 [max_documents]; at most a document's ordinary ones.
        seed: Seed, int32 or int64 [2].
    """
    return read_noise(text, choose_tokens(text, text.ordinary, noise_counts, seed))


def choose_tokens(text: Text, allowed: tf.Tensor, counts: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns bool [raw_length]: a given number of the allowed tokens of each document, at random.

    Args:
        allowed: bool [raw_length], True on tokens that may be chosen.
        counts: Number of tokens to choose, int32 [max_documents].
        seed: Seed, int32 or int64 [2].
    """
    size = tf.size(text.tokens)
    order = tf.argsort(_random_keys(tf.where(allowed, text.documents, tf.size(text.lengths)), False, seed))
    ranks = tf.math.invert_permutation(order)
    starts = tf.concat([tf.cumsum(count_by_document(allowed, text), exclusive=True), [size]], 0)
    wanted = tf.concat([counts, [0]], 0)
    return allowed & (ranks - tf.gather(starts, text.documents) < tf.gather(wanted, text.documents))


def sentinel_inputs(
    text: Text, noise: Noise, sentinel_ids: npt.NDArray[np.int32], sep_id: int, length: int
) -> Parts:
    """Returns the kept tokens of each document with a sentinel for each span, and `[SEP]` at its end.

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
    """Returns each sentinel with the tokens that it replaces, and a closing piece after the last.

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


def random_ranks(
    groups: tf.Tensor, offsets: tf.Tensor, seed: tf.Tensor, first_is_first: bool = False
) -> tf.Tensor:
    """Returns the place of each slot in a random order of its group, int32 [size].

    Args:
        groups: Group of each slot, int32 [size], ascending.
        offsets: Place in the group, int32 [size].
        seed: Seed, int32 or int64 [2].
    """
    keys = _random_keys(groups, (offsets > 0) if first_is_first else False, seed)
    return tf.math.invert_permutation(tf.argsort(keys)) - (tf.range(tf.size(groups)) - offsets)


def _random_segments(groups: tf.Tensor, offsets: tf.Tensor, counts: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Cuts each group of slots at random; returns the segment of its group that each slot is in.

    Args:
        groups: int32 [size], ascending.
        offsets: int32 [size], place in the group.
        counts: int32 [size], segments of the group that the slot is in.
        seed: int32 or int64 [2].
    """
    # The first slot of a group comes first in its random order, so that it always begins a segment.
    ranks = random_ranks(groups, offsets, seed, first_is_first=True)
    before = tf.cumsum(tf.cast(ranks < counts, tf.int32))
    return before - tf.gather(before, tf.range(tf.size(groups)) - offsets)


def _random_keys(groups: tf.Tensor, later: tf.Tensor | bool, seed: tf.Tensor) -> tf.Tensor:
    """Returns int64 [size], which sort by group, then by `later`, and then at random."""
    draws = tf.random.stateless_uniform(
        tf.shape(groups), seed, minval=0, maxval=2**31 - 1, dtype=tf.int32, alg="philox"
    )
    high = 2 * tf.cast(groups, tf.int64) + tf.cast(later, tf.int64)
    return high * 2**31 + tf.cast(draws, tf.int64)


def _roll(
    taken: tf.Tensor, documents: tf.Tensor, offsets: tf.Tensor, counts: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Turns the slots of each document by a random number of places that tears no span."""
    before = tf.concat([[False], taken[:-1]], 0) & (offsets > 0)
    allowed = tf.cast(~(taken & before), tf.int32)
    total = tf.size(counts)
    choices = tf.math.unsorted_segment_sum(allowed, documents, total + 1)
    draws = tf.random.stateless_uniform(tf.shape(choices), seed, alg="philox")
    chosen = tf.minimum(tf.cast(draws * tf.cast(choices, tf.float32), tf.int32), choices - 1)
    firsts = tf.range(tf.size(offsets)) - offsets
    numbers = tf.cumsum(allowed) - 1
    numbers -= tf.gather(numbers, firsts)
    is_cut = (allowed > 0) & (numbers == tf.gather(chosen, documents))
    cuts = tf.math.unsorted_segment_sum(tf.where(is_cut, offsets, 0), documents, total + 1)
    lengths = tf.maximum(tf.gather(tf.concat([counts, [1]], 0), documents), 1)
    return tf.gather(taken, firsts + (offsets + tf.gather(cuts, documents)) % lengths)


def _slot_of(text: Text) -> tf.Tensor:
    """Returns the number of each token among the ordinary ones of the row: int32 [raw_length]."""
    return tf.cumsum(tf.cast(text.ordinary, tf.int32), exclusive=True)


def _of_tokens(text: Text, slots: tf.Tensor) -> tf.Tensor:
    return text.ordinary & tf.gather(slots, tf.minimum(_slot_of(text), tf.size(slots) - 1))


def _closed(
    text: Text,
    counts: tf.Tensor,
    closing: tf.Tensor,
    pieces: Sequence[tuple[tf.Tensor, tf.Tensor, tf.Tensor]],
    length: int,
) -> Parts:
    """Returns the pieces with a closing id after each document; their places leave room for it."""
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
