"""Language identification with py3langid's model, about five times as fast as by the package itself.

The package sets up a vector of all features for each text and multiplies it by the whole matrix of weights.
Here only the weights of those states of its automaton are added that a text reaches. The answers are the
same.
"""

import functools
from typing import Any

import numpy as np

# Samples of a long text, and the fewest characters of one.
_SAMPLES = 10
_LEAST = 250


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
