"""Rows and their features, which rates are measured on."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features
from firth.objectives.rates.rate_checks import RateCheck

Arrays = dict[str, npt.NDArray[Any]]


@dataclasses.dataclass(frozen=True)
class Sample:
    """Some rows with their features.

    Attributes:
        config: Objective of the recipe.
        tokenizer: Tokenizer of the rows.
        rows: Arrays as `features.row_specs`, [n, ...] each.
        negatives: Negative rows in the same form.
        made: Features of the rows, [n, ...] each.
    """

    config: Any
    tokenizer: Any
    rows: Arrays
    negatives: Arrays
    made: Arrays

    @functools.cached_property
    def special_ids(self) -> npt.NDArray[Any]:
        """Of all special pieces: int32 [pieces]."""
        return np.array(self.tokenizer.special_ids, np.int32)

    def is_special(self, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns whether ids are those of special pieces: bool, of the same shape."""
        return self._specials.take(np.asarray(ids) + 1, mode="clip")

    @functools.cached_property
    def _specials(self) -> npt.NDArray[Any]:
        # A place more at both ends, for ids that no piece has.
        found = np.zeros(self.tokenizer.vocabulary_size() + 2, bool)
        found[self.special_ids + 1] = True
        return found

    def documents(self) -> Iterator[tuple[int, int, npt.NDArray[Any]]]:
        """Yields row, number from 0 and raw tokens of every document."""
        for row, lengths in enumerate(self.rows[features.CHUNK_LENGTHS]):
            texts = np.split(self.rows[features.RAW_TOKENS][row], np.cumsum(lengths))
            for number, length in enumerate(lengths):
                if length:
                    yield row, number, texts[number]


def padding_share(sample: Sample, name: str = "padding", documents: str = features.DOCUMENT_IDS) -> RateCheck:
    """Returns the share of places that hold padding, which may be any."""
    ids = sample.made[documents]
    return RateCheck(name, float((ids == 0).mean()), 0.0, 1.0)
