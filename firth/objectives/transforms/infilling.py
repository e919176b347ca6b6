"""Text infilling: each span of random length is replaced by one mask (Lewis et al. 2019, section 2.2)."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.objectives.transforms.documents import (
    Text,
    count_by_document,
    find_parts,
    of_documents,
    sum_by_document,
)
from firth.objectives.transforms.spans import random_ranks

# After this share of its mass the distribution of lengths is cut off.
_TAIL = 1e-9


class Infilling(NamedTuple):
    """Masks that replace spans.

    Attributes:
        is_hidden: bool [raw_length], True on the tokens of the spans.
        is_start: bool [raw_length], True on the first token of each span.
        inserted: Number of masks for empty spans before each token, int32 [raw_length].
        appended: Number of masks for empty spans after each document, int32 [max_documents].
    """

    is_hidden: tf.Tensor
    is_start: tf.Tensor
    inserted: tf.Tensor
    appended: tf.Tensor


def poisson_cdf(mean: float) -> npt.NDArray[Any]:
    """Returns the chance of at most 0, 1, 2, ... under a Poisson distribution, up to 1: float32 [lengths].

    Example:

    >>> poisson_cdf(3.0)[:4].round(2)
    array([0.05, 0.2 , 0.42, 0.65], dtype=float32)
    """
    chances = [math.exp(-mean)]
    while sum(chances) < 1.0 - _TAIL:
        chances.append(chances[-1] * mean / len(chances))
    return np.cumsum(chances).astype(np.float32)


def choose_infilling(
    text: Text, hidden_counts: tf.Tensor, cdf: npt.NDArray[Any], seeds: tf.Tensor
) -> Infilling:
    """Returns spans at random places, whose lengths are drawn one after another until enough is hidden.

    The last span drawn is cut to the number of tokens that are left to hide. There are no more empty spans
    than tokens that the others save, so that a document never becomes longer. All orders of spans and kept
    tokens are as likely; two spans may be neighbours.

    Args:
        hidden_counts: Number of tokens to hide, int32 [max_documents]; at most a document's ordinary ones.
        seeds: Seeds, int32 or int64 [2, 2].
    """
    counts, size = count_by_document(text.ordinary, text), tf.size(text.tokens)
    lengths, spans = _draw_lengths(counts, hidden_counts, size, cdf, seeds[0])
    hidden = sum_by_document(lengths, find_parts(spans, size)[0], tf.size(spans))
    items, places = find_parts(counts - hidden + spans, size)
    exists = items < tf.size(counts)
    ranks = random_ranks(items, places, seeds[1])
    is_span = exists & (ranks < of_documents(spans, items))
    span_places = tf.clip_by_value(of_documents(tf.cumsum(spans, exclusive=True), items) + ranks, 0, size - 1)
    widths = tf.where(is_span, tf.gather(lengths, span_places), tf.cast(exists, tf.int32))
    return _read_items(text, counts, _Items(items, is_span, widths))


class _Items(NamedTuple):
    """The spans and kept tokens of documents, in order; int32 or bool [raw_length].

    Attributes:
        documents: Number of each item's document.
        is_span: False for a kept token.
        widths: Number of ordinary tokens of each item.
    """

    documents: tf.Tensor
    is_span: tf.Tensor
    widths: tf.Tensor


def _draw_lengths(
    counts: tf.Tensor,
    hidden_counts: tf.Tensor,
    size: tf.Tensor,
    cdf: npt.NDArray[np.float32],
    seed: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the lengths of the spans of all documents, int32 [size], and their number in each."""
    draws = tf.random.stateless_uniform([size], seed, alg="philox")
    lengths = tf.minimum(tf.searchsorted(tf.constant(cdf), draws, side="right"), len(cdf) - 1)
    documents, offsets = find_parts(counts, size)  # A document has as many draws as ordinary tokens.
    wanted, firsts = of_documents(hidden_counts, documents), tf.range(size) - offsets
    sums = tf.cumsum(lengths, exclusive=True)
    left = wanted - (sums - tf.gather(sums, firsts))
    # Where the mean is small all draws may not be enough; the last one then takes the rest.
    is_last = offsets == of_documents(counts, documents) - 1
    lengths = tf.where(left > 0, tf.where(is_last, left, tf.minimum(lengths, left)), 0)
    is_full = lengths > 0
    saved = sum_by_document(tf.where(is_full, lengths - 1, 0), documents, tf.size(counts))
    is_empty = (left > 0) & ~is_full
    empties = tf.cumsum(tf.cast(is_empty, tf.int32), exclusive=True)
    is_empty &= empties - tf.gather(empties, firsts) < of_documents(saved, documents)
    is_used = is_full | is_empty
    order = tf.argsort(tf.where(is_used, 0, 1), stable=True)
    used = tf.gather(is_used, order)
    return tf.where(used, tf.gather(lengths, order), 0), sum_by_document(
        tf.cast(is_used, tf.int32), documents, tf.size(counts)
    )


def _read_items(text: Text, counts: tf.Tensor, items: _Items) -> Infilling:
    size, documents = tf.size(text.tokens), tf.size(counts)
    begins = tf.cumsum(items.widths, exclusive=True)
    is_full = tf.cast(items.is_span & (items.widths > 0), tf.int32)
    opened = tf.math.unsorted_segment_sum(is_full, begins, size + 1)
    closed = tf.math.unsorted_segment_sum(is_full, begins + items.widths, size + 1)
    # The place after a document's last token is not the one before the next document's first.
    is_empty = tf.cast(items.is_span & (items.widths == 0), tf.int32)
    inserted = tf.math.unsorted_segment_sum(is_empty, begins + items.documents, size + documents + 1)
    slots = tf.cumsum(tf.cast(text.ordinary, tf.int32), exclusive=True)
    ends = tf.cumsum(counts) + tf.range(documents)
    return Infilling(
        is_hidden=text.ordinary & (tf.gather(tf.cumsum(opened - closed), slots) > 0),
        is_start=text.ordinary & (tf.gather(opened, slots) > 0),
        inserted=tf.where(text.ordinary, tf.gather(inserted, slots + text.documents), 0),
        appended=tf.gather(inserted, ends),
    )
