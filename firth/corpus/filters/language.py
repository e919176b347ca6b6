"""The step that keeps documents in given languages, identified by py3langid's model.

It is about five times as fast as the package itself, which sets up a vector of all features for each text and
multiplies it by the whole matrix of weights. Here only the weights of those states of its automaton are added
that a text reaches. The answers are the same.
"""

import functools
from typing import Any

import numpy as np

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.recipes.corpus.filters import LanguageStep

# Number of characters by which other filters identify a document's language.
_MOST = 10_000
# Decimals of a probability in metadata.
_DIGITS = 6
# Samples of a long text, and the fewest characters of one.
_SAMPLES = 10
_LEAST = 250


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


class ByteNGramModel:
    """Naive Bayes over byte n-grams (Lui and Baldwin 2012, "langid.py").

    Attributes:
        languages: ISO 639-1 codes of the languages that the model knows.
    """

    def __init__(self, identifier: Any) -> None:
        self.languages: list[str] = list(identifier.nb_classes)
        self._priors = np.asarray(identifier.nb_pc, np.float64)
        self._following = identifier.tk_nextmove
        states = sorted(identifier.tk_output)
        # Row 0 is for the states in which no feature ends.
        self._weights = np.zeros((len(states) + 1, len(self.languages)))
        self._rows = np.zeros(len(self._following) // 256 + 1, np.int64)
        for row, state in enumerate(states, 1):
            self._rows[state] = row
            self._weights[row] = identifier.nb_ptc[list(identifier.tk_output[state])].sum(axis=0)

    def identify(self, text: str) -> tuple[str, float]:
        """Returns the most probable language of a text as (ISO 639-1 code, probability)."""
        following, state, states = self._following, 0, []
        for byte in text.encode("utf-8", "surrogatepass"):
            state = following[state << 8 | byte]
            states.append(state)
        counts = np.bincount(self._rows[states], minlength=1) if states else np.zeros(1, np.int64)
        rows = np.flatnonzero(counts)
        logarithms = self._priors + counts[rows] @ self._weights[rows]
        best = int(np.argmax(logarithms))
        return self.languages[best], float(1 / np.exp(logarithms - logarithms[best]).sum())


@functools.cache
def language_identifier() -> ByteNGramModel:
    """Returns py3langid's model, which each process loads once: it is too large to be pickled with a step."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return ByteNGramModel(LanguageIdentifier.from_pickled_model(MODEL_FILE))


def language_sample(text: str, most: int) -> str:
    r"""Returns a sample of `most` characters of a text, with parts that are mostly capitals in lower case.

    The model of languages knows words as they are usually written, and would take headings in capitals for
    another language.

    Example:

    >>> language_sample("CONTENTS\nI. A Whale", 100), language_sample("a" * 500 + "b" * 500, 500)[::100]
    ('contents\ni. a whale', 'aaabbb')
    """
    count = min(_SAMPLES, max(1, most // _LEAST))
    size = max(1, most // count)
    if len(text) <= most or count == 1:
        read = text[:most]
        return "".join(_folded(read[start : start + size]) for start in range(0, len(read), size))
    last = len(text) - size
    starts = [last * number // (count - 1) for number in range(count)]
    return "\n".join(_folded(text[start : start + size]) for start in starts)


def _folded(text: str) -> str:
    """Returns a text in lower case if most of its letters are capitals, else as it is."""
    if text.islower():
        return text
    capitals = sum(map(str.isupper, text))
    return text.lower() if 2 * capitals > sum(map(str.isalpha, text)) else text
