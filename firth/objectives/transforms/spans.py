"""Which tokens are corrupted: random spans, or tokens one by one."""

from typing import NamedTuple

import tensorflow as tf

from firth.objectives.transforms.documents import Text, count_by_document, find_parts, within_document


class Noise(NamedTuple):
    """Which tokens of a row are corrupted.

    A special piece of the text is never corrupted, and a span that it stands in goes on after it: spans are
    counted as if it were not there.

    Attributes:
        is_noise: bool [raw_length].
        is_start: bool [raw_length], the first token of each span.
    """

    is_noise: tf.Tensor
    is_start: tf.Tensor


def read_noise(text: Text, is_noise) -> Noise:
    """Returns noise with its spans: what is consecutive in a document, special pieces aside, is one span.

    Args:
        text: Of the row.
        is_noise: bool [raw_length], True on ordinary tokens only.
    """
    is_noise = tf.convert_to_tensor(is_noise)
    size, slot = tf.size(text.tokens), _slot_of(text)
    slots = tf.math.unsorted_segment_sum(
        tf.cast(is_noise, tf.int32), tf.where(text.ordinary, slot, size), size + 1
    )
    goes_on = (tf.gather(slots, tf.maximum(slot - 1, 0)) > 0) & (within_document(text.ordinary, text) > 0)
    return Noise(is_noise, is_noise & ~goes_on)


def random_spans(text: Text, noise_counts, span_counts, random_roll: bool, seeds) -> Noise:
    """Returns noise in spans: both the noise and what is kept are cut at random, and then take turns.

    A document begins with what is kept and ends with noise (Raffel et al. 2019, in the reference code). With
    `random_roll` it is then turned around by a random number of tokens. No span is torn in two by that, which
    would need one more sentinel.

    Args:
        text: Of the row.
        noise_counts: int32 [max_documents], tokens to corrupt; fewer than a document's ordinary ones.
        span_counts: int32 [max_documents], spans that they make; at most the noise, and what is kept.
        random_roll: Turn around.
        seeds: int32 or int64 [2, 2].
    """
    counts = count_by_document(text.ordinary, text)
    size = tf.size(text.tokens)
    documents, offsets = find_parts(counts, size)
    noise = tf.gather(tf.concat([noise_counts, [0]], 0), documents)
    spans = tf.gather(tf.concat([span_counts, [0]], 0), documents)
    # Slots: the first of a document stand for its noise, the others for what is kept.
    is_kept = offsets >= noise
    inside = tf.where(is_kept, offsets - noise, offsets)
    segments = _random_segments(2 * documents + tf.cast(is_kept, tf.int32), inside, spans, seeds[0])
    turns = tf.argsort(2 * (documents * size + segments) + tf.cast(~is_kept, tf.int32), stable=True)
    taken = tf.gather(~is_kept & (noise > 0), turns)
    if random_roll:
        taken = _roll(taken, documents, offsets, counts, seeds[1])
    return read_noise(text, _of_tokens(text, taken))


def random_tokens(text: Text, noise_counts, seed) -> Noise:
    """Returns noise of single tokens, each as likely as any other of its document.

    Args:
        text: Of the row.
        noise_counts: int32 [max_documents], tokens to corrupt; at most a document's ordinary ones.
        seed: int32 or int64 [2].
    """
    return read_noise(text, choose_tokens(text, text.ordinary, noise_counts, seed))


def choose_tokens(text: Text, allowed, counts, seed) -> tf.Tensor:
    """Returns bool [raw_length]: of each document so many of the allowed tokens, at random.

    Args:
        text: Of the row.
        allowed: bool [raw_length].
        counts: int32 [max_documents].
        seed: int32 or int64 [2].
    """
    size = tf.size(text.tokens)
    order = tf.argsort(_random_keys(tf.where(allowed, text.documents, tf.size(text.lengths)), False, seed))
    ranks = tf.math.invert_permutation(order)
    starts = tf.concat([tf.cumsum(count_by_document(allowed, text), exclusive=True), [size]], 0)
    wanted = tf.concat([counts, [0]], 0)
    return allowed & (ranks - tf.gather(starts, text.documents) < tf.gather(wanted, text.documents))


def _random_segments(groups, offsets, counts, seed):
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


def random_ranks(groups, offsets, seed, first_is_first: bool = False) -> tf.Tensor:
    """Returns the place of each slot in a random order of its group, int32 [size].

    Args:
        groups: int32 [size], ascending.
        offsets: int32 [size], place in the group.
        seed: int32 or int64 [2].
        first_is_first: The first slot of a group keeps its place.
    """
    keys = _random_keys(groups, (offsets > 0) if first_is_first else False, seed)
    return tf.math.invert_permutation(tf.argsort(keys)) - (tf.range(tf.size(groups)) - offsets)


def _random_keys(groups, later, seed):
    """Returns int64 [size], which sort by group, then by `later`, and then at random."""
    draws = tf.random.stateless_uniform(
        tf.shape(groups), seed, minval=0, maxval=2**31 - 1, dtype=tf.int32, alg="philox"
    )
    high = 2 * tf.cast(groups, tf.int64) + tf.cast(later, tf.int64)
    return high * 2**31 + tf.cast(draws, tf.int64)


def _roll(taken, documents, offsets, counts, seed):
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


def _slot_of(text):
    """Returns the number of each token among the ordinary ones of the row: int32 [raw_length]."""
    return tf.cumsum(tf.cast(text.ordinary, tf.int32), exclusive=True)


def _of_tokens(text, slots):
    return text.ordinary & tf.gather(slots, tf.minimum(_slot_of(text), tf.size(slots) - 1))
