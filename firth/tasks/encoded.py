"""Labelled records as tokens."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class EncodedRecord(NamedTuple):
    """A labelled record as tokens that fit a row. A row holds several of them, whole.

    Attributes:
        key: A hash of the record's id, above 0. No two records of a split have the same.
        source: Name of the record's source.
        chunks: The tokens of each of its texts, int32 [length] each, without special tokens: those of
            one document after another, where it stands as several.
        labels: The record's part of each label field of a row, by the name of the field.
        cut: Number of tokens that were cut off.
        words: The UTF-8 bytes of each token, object [length] for each text, if tokens are whole words;
            otherwise empty.
        id: Id of the record, by which a report names it.
        details: What its scores need and no model reads, as JSON; empty if they need nothing.
        is_found: Whether a corpus of the base was found to hold its texts.
        rejected: Why it stands in no row, a name to count by; empty if it stands in one.
    """

    key: int
    source: str
    chunks: tuple[npt.NDArray[np.int32], ...]
    labels: Mapping[str, list[Any]]
    cut: int = 0
    words: tuple[npt.NDArray[Any], ...] = ()
    id: str = ""
    details: str = ""
    is_found: bool = False
    rejected: str = ""
