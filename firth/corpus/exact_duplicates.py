"""Documents that say the same, to the letter."""

from collections.abc import Sequence

from firth.corpus.document import Document
from firth.corpus.hashing import digest
from firth.corpus.steps import Decision, Drop, GroupStep, Keep
from firth.recipes.cleaning import ExactDuplicatesStep


class ExactDuplicates(GroupStep):
    """Keeps, of the documents with one text, the one of the smallest id; drops the others as `duplicate`.

    The source does not matter, nor the number of workers, nor the order of reading.

    Example:

    >>> first, second = (Document(i, "Same.", "docs", "CC0", i) for i in "ab")
    >>> ExactDuplicates(ExactDuplicatesStep(kind="exact_duplicates")).decide_group([second, first])
    [Drop(reason='duplicate'), Keep(document=Document(id='a', ...))]
    """

    def __init__(self, config: ExactDuplicatesStep):
        del config

    def key(self, document: Document) -> bytes:  # noqa: D102
        return digest(document.text)

    def decide_group(self, documents: Sequence[Document]) -> list[Decision]:  # noqa: D102
        survivor = min(documents, key=lambda document: (document.id, document.uri))
        return [Keep(document) if document is survivor else Drop("duplicate") for document in documents]
