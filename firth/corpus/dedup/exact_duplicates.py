"""The step that drops all but one of several documents with the same text."""

import apache_beam as beam
import numpy as np

from firth.corpus.dedup.kept_copies import decide_copies
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.steps import CorpusStep, Setting
from firth.corpus.grouping.identity import id_halves, longest_first, source_ranks
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.grouping.tables import table_of
from firth.recipes.corpus.duplicates import ExactDuplicatesStep


class ExactDuplicates(CorpusStep[ExactDuplicatesStep]):
    """Drops all documents with the same text but one, for the reason `duplicate`.

    The document of the most preferred source is kept; of several, the one with the smallest id. Texts are
    considered the same if 128 bits of their hash are. Workers hold rows of 40 bytes, never the texts of a
    cluster.

    Example:

    >>> documents = [Document(id, "Same.", "docs", "CC0", id) for id in ("1a", "2b")]
    >>> describe_exactly(documents, {"docs": 0})["id_low"].tolist()
    [26, 43]
    """

    reasons = frozenset({"duplicate"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        ranks = source_ranks(self._config.source_priority, setting.sources)
        entries = documents | "Describe" >> beam.Map(describe_exactly, ranks)
        return decide_copies(documents, entries, setting.grouping)


def describe_exactly(documents: list[Document], ranks: dict[str, int]) -> np.ndarray:
    """Returns a table with one entry for each document, labelled by its text's hash, for `ChooseKept`."""
    digests = np.frombuffer(b"".join(digest(document.text) for document in documents), ">u8").reshape(-1, 2)
    high, low = id_halves(documents)
    return table_of(
        label=digests[:, 0].astype(np.uint64),
        check=digests[:, 1].astype(np.uint64),
        order=longest_first(documents, ranks),
        id_high=high,
        id_low=low,
    )
