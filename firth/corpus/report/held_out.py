"""The share of a corpus that was held out, compared with the share that the recipe asks for."""

from collections.abc import Iterable, Mapping
from typing import Any

from firth.corpus.documents.corpus_counts import UNITS
from firth.corpus.documents.split import EVAL

# There is a warning for a share that differs from the one asked for by more than this factor.
FAR = 2.0


def held_out(splits: Iterable[Mapping[str, Any]], asked: float) -> dict[str, Any]:
    """Returns the shares of documents, bytes and words in the eval split.

    Example:

    >>> book = {"documents": 1, "bytes": 28, "words": 28}
    >>> others = {"documents": 2, "bytes": 72, "words": 72}
    >>> held_out([{"split": "eval", **book}, {"split": "train", **others}], 0.05)["warning"]
    'cleaning.split.eval_fraction is 0.05, but 1 of 3 documents is held out with 0.28 of the bytes ...'
    """
    rows = list(splits)
    whole = {unit: sum(row[unit] for row in rows) for unit in UNITS}
    held = {unit: sum(row[unit] for row in rows if row["split"] == EVAL) for unit in UNITS}
    shares = {unit: held[unit] / whole[unit] if whole[unit] else 0.0 for unit in UNITS}
    is_far = any(not asked / FAR <= shares[unit] <= asked * FAR for unit in ("bytes", "words"))
    documents = f"{held['documents']:,} of {whole['documents']:,} documents"
    warning = (
        f"cleaning.split.eval_fraction is {asked:g}, but {documents} "
        f"{'is' if held['documents'] == 1 else 'are'} held out with {shares['bytes']:.3g} of the bytes and "
        f"{shares['words']:.3g} of the words: documents are held out whole, so the share differs if they are "
        "few or differ much in size"
    )
    return {"asked": asked, **shares, "warning": warning if is_far and rows else ""}
