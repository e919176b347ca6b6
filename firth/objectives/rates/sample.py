"""What the measuring of rates looks at: some rows, and what an objective made of them."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from firth import features
from firth.objectives.rates.rate_checks import RateCheck

Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Sample:
    """Some rows with their features.

    Attributes:
        config: The objective's part of a recipe.
        tokenizer: Of the rows.
        rows, partners: As `features.row_specs`, [n, ...] each.
        made: Features, [n, ...] each.
    """

    config: Any
    tokenizer: Any
    rows: Arrays
    partners: Arrays
    made: Arrays

    @property
    def special_ids(self) -> np.ndarray:
        """Of all special pieces: int32 [pieces]."""
        return np.array(self.tokenizer.special_ids, np.int32)

    def is_special(self, ids) -> np.ndarray:
        """Returns which ids are of special pieces, bool, of the same shape."""
        return np.isin(ids, self.special_ids)

    def documents(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yields row, number from 0 and raw tokens of every document."""
        for row, lengths in enumerate(self.rows[features.CHUNK_LENGTHS]):
            texts = np.split(self.rows[features.RAW_TOKENS][row], np.cumsum(lengths))
            for number, length in enumerate(lengths):
                if length:
                    yield row, number, texts[number]


def padding_share(sample: Sample, name: str = "padding", documents: str = features.DOCUMENT_IDS) -> RateCheck:
    """Returns the share of places that hold nothing, which may be any.

    Args:
        sample: Rows with their features.
        name: Of the rate.
        documents: Name of the feature that is 0 on padding.
    """
    ids = sample.made[documents]
    return RateCheck(name, float((ids == 0).mean()), 0.0, 1.0)
