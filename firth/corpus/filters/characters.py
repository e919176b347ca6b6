"""The step that drops documents consisting mostly of numbers, markup or encoded data."""

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.text_measures import are_too_long, count_marks
from firth.recipes.corpus.cleaning import CharactersStep
from firth.segmentation.words import split_words

_ASCII = bytes(range(128))
_NO_ASCII_LETTERS = bytes(code for code in range(256) if not (code < 128 and chr(code).isalpha()))


class Characters(DocumentStep[CharactersStep]):
    """Drops documents with `too_few_letters`, or with words that are `words_too_long` on average.

    Letters are those of Unicode, with the marks on them. Their share is computed over the characters that are
    not white space.

    Example:

    >>> step = Characters(CharactersStep(kind="characters"))
    >>> step.decide(Document("1", "1 2 3 4 a", "docs", "CC0", "a.txt"))
    Drop(reason='too_few_letters')
    """

    reasons = frozenset({"too_few_letters", "words_too_long"})

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        characters = sum(map(len, document.text.split()))
        letters = count_letters(document.text) + count_marks(document.text)
        return {
            "alphabetic_fraction": letters / max(characters, 1),
            "mean_word_length": characters / max(document.words, 1),
        }

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text, config = document.text, self._config
        characters = sum(map(len, text.split()))
        least = config.min_alphabetic_fraction * characters
        letters = count_letters(text)
        if letters < least and letters + count_marks(text) < least:
            return Drop("too_few_letters")
        longest = config.max_mean_word_length
        if characters > longest * document.words and are_too_long(split_words(text), longest):
            return Drop("words_too_long")
        return Keep(document)


def count_letters(text: str) -> int:
    """Returns the number of letters in a text, as `str.isalpha` defines them.

    Example:

    >>> count_letters("Müll 2")
    4
    """
    # Deleting bytes is much quicker in Python than testing characters one by one.
    data = text.encode("utf-8", "surrogatepass")
    others = data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    return len(data.translate(None, _NO_ASCII_LETTERS)) + sum(map(str.isalpha, others))
