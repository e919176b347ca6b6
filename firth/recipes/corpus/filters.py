"""Rules of thumb for what is text worth learning from: each threshold, with its published default."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config, Fraction, check_order
from firth.recipes.corpus.codes import Language

Count = Annotated[int, pydantic.Field(ge=0)]
Ratio = Annotated[float, pydantic.Field(ge=0.0)]


class C4Step(Config):
    """C4's rules (Raffel et al. 2019, arXiv:1910.10683, section 2.2): some cut lines, some drop documents.

    Its word list is the step `bad_words`, its language rule `language`; its removal of repeated
    three-sentence spans is a matter of duplicates. The rules on long words, on policies and on citations are
    in its code only.

    Attributes:
        terminal_punctuation: Cut lines that do not end in `.`, `!`, `?` or a quotation mark, or that end in
            an ellipsis.
        min_words_per_line: Cut lines of fewer words.
        max_word_length: Cut lines with a word of more characters.
        javascript: Cut lines with the word Javascript.
        policy_phrases: Cut lines with one of these phrases, in lower case.
        citations: Remove marks such as `[1]`, `[edit]` and `[citation needed]`.
        lorem_ipsum: Drop documents with that phrase.
        curly_bracket: Drop documents with a `{`.
        min_sentences: Drop documents of which fewer are left.
    """

    kind: Literal["c4"]
    terminal_punctuation: bool = True
    min_words_per_line: Count = 3
    max_word_length: Count = 1000
    javascript: bool = True
    policy_phrases: tuple[str, ...] = (
        "terms of use",
        "privacy policy",
        "cookie policy",
        "uses cookies",
        "use of cookies",
        "use cookies",
    )
    citations: bool = True
    lorem_ipsum: bool = True
    curly_bracket: bool = True
    min_sentences: Count = 5


class GopherQualityStep(Config):
    """Gopher's rules on quality (Rae et al. 2021, arXiv:2112.11446, appendix A.1.1), each drops documents.

    A word is a run of non-space characters; blank lines are no lines.

    Attributes:
        min_words, max_words: Of a document.
        min_mean_word_length, max_mean_word_length: In characters.
        max_symbols_per_word: Hash signs by words, and ellipses by words.
        max_bullet_line_fraction: Lines that begin with one of `bullets`.
        bullets: Characters that begin an item of a list.
        max_ellipsis_line_fraction: Lines that end in an ellipsis.
        min_alphabetic_word_fraction: Words with at least one letter.
        min_stop_words: At least so many different ones of `stop_words` occur.
        stop_words: Words that nearly every English text has.
    """

    kind: Literal["gopher_quality"]
    min_words: Count = 50
    max_words: Count = 100_000
    min_mean_word_length: Ratio = 3.0
    max_mean_word_length: Ratio = 10.0
    max_symbols_per_word: Ratio = 0.1
    max_bullet_line_fraction: Fraction = 0.9
    bullets: tuple[str, ...] = ("•", "‣", "◦", "▪", "●", "-", "*")
    max_ellipsis_line_fraction: Fraction = 0.3
    min_alphabetic_word_fraction: Fraction = 0.8
    min_stop_words: Count = 2
    stop_words: tuple[str, ...] = ("the", "be", "to", "of", "and", "that", "have", "with")

    @pydantic.model_validator(mode="after")
    def _bounds_in_order(self):
        check_order(self, "min_words", "max_words")
        check_order(self, "min_mean_word_length", "max_mean_word_length")
        return self


class NgramLimit(Config):
    """How much of a text, in characters other than spaces, the n-grams of words of one length may hold.

    Attributes:
        n: Words of an n-gram.
        max_character_fraction: Share of the characters that these n-grams may hold at most.
    """

    n: int = pydantic.Field(ge=2, le=100)
    max_character_fraction: Fraction


def _limits(**fractions: float) -> tuple[NgramLimit, ...]:
    return tuple(NgramLimit(n=int(n[1:]), max_character_fraction=each) for n, each in fractions.items())


class GopherRepetitionStep(Config):
    """Gopher's rules on repetition (Rae et al. 2021, arXiv:2112.11446, table A1), each drops documents.

    A line, a paragraph (between blank lines) or an n-gram of words is a duplicate where it stood in the
    document before. Characters count without spaces; those in overlapping n-grams count once.

    Attributes:
        max_duplicate_line_fraction, max_duplicate_paragraph_fraction: Of lines and of paragraphs.
        max_duplicate_line_character_fraction, max_duplicate_paragraph_character_fraction: Of characters.
        top_ngrams: The most frequent n-gram, if it repeats, holds at most this share, all its occurrences
            counted.
        duplicate_ngrams: All duplicate n-grams together hold at most this share.
    """

    kind: Literal["gopher_repetition"]
    max_duplicate_line_fraction: Fraction = 0.3
    max_duplicate_paragraph_fraction: Fraction = 0.3
    max_duplicate_line_character_fraction: Fraction = 0.2
    max_duplicate_paragraph_character_fraction: Fraction = 0.2
    top_ngrams: tuple[NgramLimit, ...] = _limits(n2=0.20, n3=0.18, n4=0.16)
    duplicate_ngrams: tuple[NgramLimit, ...] = _limits(n5=0.15, n6=0.14, n7=0.13, n8=0.12, n9=0.11, n10=0.10)


class FineWebStep(Config):
    """FineWeb's own rules (Penedo et al. 2024, arXiv:2406.17557, section 3.6), each drops documents.

    Blank lines are no lines. The rule on line breaks is in its code only.

    Attributes:
        min_punctuated_line_fraction: More lines than this end in `.`, `!`, `?` or a quotation mark.
        short_line_characters, max_short_line_fraction: Less than this share of lines is shorter than that.
        max_duplicate_character_fraction: Lines that stood before hold less than this share of the
            characters. Section 3.6 says 0.1, its appendix and its code 0.01.
        max_line_breaks_per_word: At most.
    """

    kind: Literal["fineweb"]
    min_punctuated_line_fraction: Fraction = 0.12
    short_line_characters: Count = 30
    max_short_line_fraction: Fraction = 0.67
    max_duplicate_character_fraction: Fraction = 0.1
    max_line_breaks_per_word: Ratio = 0.3


class LanguageStep(Config):
    """Drops documents that are not in one of the languages, or not surely so (Lui and Baldwin 2012).

    The default is what C4 asks of another package (Raffel et al. 2019, section 2.2). The probability is a
    naive Bayes model's, and no measure of how often it is right: it is close to 1 for nearly any text of some
    sentences, wrong ones included, and lower for short or mixed text, so that it works as a filter for those.

    Attributes:
        languages: ISO 639-1 codes of languages that the model knows.
        min_probability: Normalised over all languages that the model knows.
        max_characters: Of a longer text its beginning is looked at.
    """

    kind: Literal["language"]
    languages: Annotated[tuple[Language, ...], pydantic.Field(min_length=1)] = ("en",)
    min_probability: Fraction = 0.99
    max_characters: int = pydantic.Field(default=10_000, ge=1)


class WordList(Config):
    """Words or phrases in a file, one a line.

    Attributes:
        path: On any of Beam's file systems.
        language: ISO 639-1 code; the list is for documents in this language alone. Without it, for all.
        whole_words: Whether an entry must stand between characters that are not part of a word. Languages
            written without spaces need `false`.
    """

    path: Annotated[str, NamesFiles()]
    language: Language | None = None
    whole_words: bool = True


class BadWordsStep(Config):
    """Drops documents with a word of a list, as C4 does (Raffel et al. 2019, section 2.2), whatever its case.

    Attributes:
        lists: Read once, when the pipeline is built.
    """

    kind: Literal["bad_words"]
    lists: Annotated[tuple[WordList, ...], pydantic.Field(min_length=1)]


FilterStep = C4Step | GopherQualityStep | GopherRepetitionStep | FineWebStep | LanguageStep | BadWordsStep
