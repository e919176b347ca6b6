"""Documents that are mostly not words: tables of numbers, markup, encoded data."""

from firth.corpus.document import Document
from firth.corpus.steps import Decision, DocumentStep, Drop, Keep
from firth.recipes.cleaning import CharactersStep


class Characters(DocumentStep):
    """Drops documents with `too_few_letters` or whose `words_too_long`.

    Letters are Unicode's, and their share is of the characters that are not spaces.

    Example:

    >>> step = Characters(CharactersStep(kind="characters"))
    >>> step.decide(Document("1", "1 2 3 4 a", "docs", "CC0", "a.txt"))
    Drop(reason='too_few_letters')
    """

    reasons = frozenset({"too_few_letters", "words_too_long"})

    def __init__(self, config: CharactersStep):
        self._min_alphabetic_fraction = config.min_alphabetic_fraction
        self._max_mean_word_length = config.max_mean_word_length

    def decide(self, document: Document) -> Decision:  # noqa: D102
        words = document.text.split()
        characters = sum(map(len, words))
        letters = sum(map(str.isalpha, document.text))
        if letters < self._min_alphabetic_fraction * characters:
            return Drop("too_few_letters")
        if characters > self._max_mean_word_length * len(words):
            return Drop("words_too_long")
        return Keep(document)
