"""The step that keeps documents in given languages."""

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.text.language_identification import language_identifier, language_sample
from firth.recipes.corpus.filters import LanguageStep

# Number of characters by which other filters identify a document's language.
_MOST = 10_000
# Decimals of a probability in metadata.
_DIGITS = 6


class Language(DocumentStep[LanguageStep]):
    """Drops documents in an `other_language`, and those whose identification is an `uncertain_language`.

    Example:

    >>> step = Language(LanguageStep(kind="language", languages=("de", "fr")))
    >>> step.decide(Document("1", "It was the best of times, it was the worst of times.", "docs", "", "a"))
    Drop(reason='other_language')
    """

    reasons = frozenset({"other_language", "uncertain_language"})

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        language, probability = identify(document.text, self._config.max_characters)
        return {"probability": probability if language in self._config.languages else 0.0}

    def decide(self, document: Document) -> Decision:  # noqa: D102
        language, probability = identify(document.text, self._config.max_characters)
        if language not in self._config.languages:
            return Drop("other_language")
        if probability < self._config.min_probability:
            return Drop("uncertain_language")
        return Keep(document, metadata={"language": language, "probability": round(probability, _DIGITS)})


def identify(text: str, most: int = _MOST) -> tuple[str, float]:
    """Returns the most probable language of a text as (ISO 639-1 code, probability among known languages).

    Example:

    >>> identify("Es war die beste und die schlimmste Zeit.")[0]
    'de'
    """
    return language_identifier().identify(language_sample(text, most))
