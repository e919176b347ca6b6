"""The step that drops documents with too few or too many words."""

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.recipes.corpus.cleaning import LengthStep


class Length(DocumentStep[LengthStep]):
    """Drops documents with `too_few_words` or `too_many_words`; words are those of `Document.words`.

    Example:

    >>> step = Length(LengthStep(kind="length", min_words=2))
    >>> step.decide(Document("1", "Hello", "docs", "CC0", "a.txt"))
    Drop(reason='too_few_words')
    """

    reasons = frozenset({"too_few_words", "too_many_words"})

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        return {"words": document.words}

    def decide(self, document: Document) -> Decision:  # noqa: D102
        words = document.words
        if words < self._config.min_words:
            return Drop("too_few_words")
        if words > self._config.max_words:
            return Drop("too_many_words")
        return Keep(document)
