"""Rules of thumb for what is text worth learning from: each threshold, with its published default."""

from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config, Fraction, check_order
from firth.recipes.corpus.step import CleaningStep, DescribingStep, Language, LanguageRules, StepByLanguage

Words = Literal["script", "spaces", "characters", "spacy"]
Ratio = Annotated[float, pydantic.Field(ge=0.0)]
# Marks of all living scripts that have one; of brackets, those that close a quotation.
TERMINAL_MARKS = (
    *".!?\"'”’»。！？．｡」』）》〉։؟۔܀܁܂।॥෴။།༎።፧፨។៕᠃᠉",
    *("፡፡", "᙮", "꧉", "𑅁"),
)


class C4Step(CleaningStep):
    """C4's rules (Raffel et al. 2019, arXiv:1910.10683, section 2.2): some cut lines, some drop documents.

    Its word list is the step `bad_words`, its language rule `language`; its removal of repeated
    three-sentence spans is a matter of duplicates. The rules on long words, on policies and on citations are
    in its code only.
    """

    kind: Literal["c4"]
    terminal_punctuation: bool = True
    """True to cut lines that do not end in `.`, `!`, `?`, a mark of another script or a quotation mark, or
    that end in an ellipsis. Thai and Lao have no mark: their lines are kept."""
    min_words_per_line: pydantic.NonNegativeInt = 3
    """Least words of a line; shorter lines are cut."""
    max_word_length: pydantic.NonNegativeInt = 1000
    """Most characters of a word; lines with a longer word are cut."""
    javascript: bool = True
    """True to cut lines with the word Javascript."""
    policy_phrases: tuple[str, ...] = (
        "terms of use",
        "privacy policy",
        "cookie policy",
        "uses cookies",
        "use of cookies",
        "use cookies",
    )
    """Phrases in lower case; lines with one of them are cut."""
    citations: bool = True
    """True to remove marks such as `[1]`, `[edit]` and `[citation needed]`."""
    lorem_ipsum: bool = True
    """True to drop documents with that phrase."""
    curly_bracket: bool = True
    """True to drop documents with a `{`."""
    min_sentences: pydantic.NonNegativeInt = 5
    """Least sentences of a document after the cuts; with fewer it is dropped."""


class GopherQualityRules(Config):
    """Thresholds of Gopher's rules on quality.

    Blank lines do not count as lines.
    """

    words: Words = "script"
    """Meaning of a word: `script`, a run of non-space characters, which ICU's rules and dictionaries divide
    in scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan), where the mean length does not
    count; `spaces`, a run of non-space characters in all scripts; `characters`, in which each character of a
    script without spaces is a word of its own, and stop words are found anywhere in the text; or `spacy`, a
    token of spaCy's tokenizer of the language, or of English for rules without one, where punctuation is a
    token that counts neither as a word nor in the mean length. `spacy` needs `pip install 'firth[spacy]'`."""
    min_words: pydantic.NonNegativeInt = 50
    """Least words of a document."""
    max_words: pydantic.NonNegativeInt = 100_000
    """Most words of a document."""
    min_mean_word_length: Ratio = 3.0
    """Least characters of a word on average."""
    max_mean_word_length: Ratio = 10.0
    """Most characters of a word on average."""
    max_symbols_per_word: Ratio = 0.1
    """Most hash signs per word, and most ellipses per word."""
    max_bullet_line_fraction: Fraction = 0.9
    """Largest share of lines that begin with one of `bullets`."""
    bullets: tuple[str, ...] = ("•", "‣", "◦", "▪", "●", "-", "*")
    """Characters that begin an item of a list."""
    max_ellipsis_line_fraction: Fraction = 0.3
    """Largest share of lines that end in an ellipsis."""
    min_alphabetic_word_fraction: Fraction = 0.8
    """Least share of words with at least one letter."""
    min_stop_words: pydantic.NonNegativeInt = 2
    """Least number of different words of `stop_words` that occur."""
    stop_words: tuple[str, ...] = ("the", "be", "to", "of", "and", "that", "have", "with")
    """Words that text in the language is expected to hold, in any letter case. The default are those of
    English; a text that is surely of another language is held to words of that language, if firth has any for
    it."""
    stop_words_file: Annotated[str | None, NamesFiles()] = None
    """Path of a file of such words, one a line, which are taken instead."""

    @pydantic.model_validator(mode="after")
    def _bounds_in_order(self) -> "GopherQualityRules":
        check_order(self, "min_words", "max_words")
        check_order(self, "min_mean_word_length", "max_mean_word_length")
        return self

    def conflict(self) -> str | None:
        """Returns why no document has enough stop words; None if one may have. Those of a file are not read.

        Example:

        >>> GopherQualityRules(min_stop_words=3, stop_words=("der", "Der", "die")).conflict()
        'min_stop_words: 3 of 2 stop_words cannot occur, so that every document would be dropped'
        """
        words = len({word.lower() for word in self.stop_words})
        if self.stop_words_file or self.min_stop_words <= words:
            return None
        return (
            f"min_stop_words: {self.min_stop_words} of {words} stop_words cannot occur, so that every "
            "document would be dropped"
        )


class LanguageQuality(LanguageRules, GopherQualityRules):
    """Rules on quality for documents in one language; those that are not given are those of the step."""

    say_the_same: ClassVar[frozenset[str]] = frozenset({"stop_words", "stop_words_file"})


class GopherQualityStep(StepByLanguage, GopherQualityRules):
    """Gopher's rules on quality (Rae et al. 2021, arXiv:2112.11446, appendix A.1.1); each drops documents.

    Words of other languages are longer or shorter than English ones, and its stop words do not occur in them,
    so FineWeb-2 sets thresholds and stop words by language (Penedo et al. 2025, arXiv:2506.20920).
    """

    kind: Literal["gopher_quality"]
    languages: tuple[LanguageQuality, ...] = ()
    """Thresholds and stop words by language. The language of each document is then identified, by the model
    of the step `language`."""

    @pydantic.model_validator(mode="after")
    def _stop_words_are_enough(self) -> "GopherQualityStep":
        if said := self.conflict():
            raise ValueError(said)
        # What a language does not state is that of the step by now.
        for place, each in enumerate(self.languages):
            if said := each.conflict():
                raise ValueError(f"languages.{place}: {said}")
        return self


class NgramLimit(Config):
    """Most that n-grams of words of one length may hold of a text."""

    n: int = pydantic.Field(ge=2, le=100)
    """Words of an n-gram."""
    max_character_fraction: Fraction
    """Largest share of the characters other than spaces."""


def _limits(**fractions: float) -> tuple[NgramLimit, ...]:
    return tuple(NgramLimit(n=int(n[1:]), max_character_fraction=each) for n, each in fractions.items())


class GopherRepetitionRules(Config):
    """Thresholds of Gopher's rules on repetition.

    A line, a paragraph (between blank lines) or an n-gram of words is a duplicate if it occurred in the
    document before. Characters are counted without spaces; those in overlapping n-grams count once.
    """

    words: Words = "script"
    """Meaning of a word, as in `gopher_quality`."""
    max_duplicate_line_fraction: Fraction = 0.3
    """Largest share of lines that are duplicates."""
    max_duplicate_paragraph_fraction: Fraction = 0.3
    """Largest share of paragraphs that are duplicates."""
    max_duplicate_line_character_fraction: Fraction = 0.2
    """Largest share of characters in duplicate lines."""
    max_duplicate_paragraph_character_fraction: Fraction = 0.2
    """Largest share of characters in duplicate paragraphs."""
    top_ngrams: tuple[NgramLimit, ...] = _limits(n2=0.20, n3=0.18, n4=0.16)
    """Limits of the most frequent n-gram, if it repeats, all its occurrences counted."""
    duplicate_ngrams: tuple[NgramLimit, ...] = _limits(n5=0.15, n6=0.14, n7=0.13, n8=0.12, n9=0.11, n10=0.10)
    """Limits of all duplicate n-grams together."""


class LanguageRepetition(LanguageRules, GopherRepetitionRules):
    """Rules on repetition for documents in one language; those that are not given are those of the step."""


class GopherRepetitionStep(StepByLanguage, GopherRepetitionRules):
    """Gopher's rules on repetition (Rae et al. 2021, arXiv:2112.11446, table A1); each drops documents."""

    kind: Literal["gopher_repetition"]
    languages: tuple[LanguageRepetition, ...] = ()
    """Thresholds by language, as those of `gopher_quality`. Languages differ in how often words repeat, as
    with particles of their own."""


class FineWebRules(Config):
    """Thresholds of FineWeb's own rules.

    Blank lines do not count as lines. The rule on line breaks is in its code only.
    """

    min_punctuated_line_fraction: Fraction = 0.12
    """Share of lines that end in one of `terminal_marks`; a document must have more."""
    terminal_marks: Annotated[tuple[str, ...], pydantic.Field(min_length=1)] = TERMINAL_MARKS
    """Punctuation at the end of a sentence, which scripts have of their own. A line in Thai or Lao, which
    have none, needs no mark."""
    short_line_characters: pydantic.NonNegativeInt = 30
    """Characters below which a line is short."""
    max_short_line_fraction: Fraction = 0.67
    """Share of short lines that a document must be below."""
    max_duplicate_character_fraction: Fraction = 0.01
    """Share of the characters that are in lines that occurred before; a document must be below. It is that of
    its code and its appendix; section 3.6 says 0.1."""
    max_line_breaks_per_word: Ratio = 0.3
    """Most line breaks per word."""
    words: Words = "script"
    """Meaning of a word, as in `gopher_quality`; with `spacy`, punctuation is a word too."""


class LanguageFineWeb(LanguageRules, FineWebRules):
    """FineWeb's rules for documents in one language; those that are not given are those of the step."""


class FineWebStep(StepByLanguage, FineWebRules):
    """FineWeb's own rules (Penedo et al. 2024, arXiv:2406.17557, section 3.6); each drops documents."""

    kind: Literal["fineweb"]
    languages: tuple[LanguageFineWeb, ...] = ()
    """Thresholds by language, as those of `gopher_quality`."""


class LanguageStep(DescribingStep):
    """Drops documents that are not in one of the languages, or not surely so (Lui and Baldwin 2012).

    The default is the rule of C4, which uses another package (Raffel et al. 2019, section 2.2). The
    probability is that of a naive Bayes model, and does not say how often the model is right: it is close to
    1 for nearly any text of some sentences, wrong ones included, and lower for short or mixed text, so that
    it works as a filter for those. Metadata that it adds are `language` and `probability`.
    """

    kind: Literal["language"]
    languages: Annotated[tuple[Language, ...], pydantic.Field(min_length=1)] = ("en",)
    """ISO 639-1 codes of languages that the model knows."""
    min_probability: Fraction = 0.99
    """Least probability of the language, normalised over all languages that the model knows."""
    max_characters: int = pydantic.Field(default=10_000, ge=1)
    """Most characters of a text that are read, in samples from all of it. Samples of which most letters are
    capitals are read in lower case."""


class WordList(Config):
    """Words or phrases in a file, one a line."""

    path: Annotated[str, NamesFiles()]
    """Path of the file, on any of Beam's file systems."""
    language: Language | None = None
    """ISO 639-1 code; the list is for documents in this language alone. Without it, for all."""
    whole_words: bool = True
    """True if an entry must stand between characters that are not part of a word, or be a word that ICU finds
    in text without spaces; there `false` misses less."""


class BadWordsStep(CleaningStep):
    """Drops documents with a word of a list in any case, as C4 does (Raffel et al. 2019, section 2.2)."""

    kind: Literal["bad_words"]
    lists: Annotated[tuple[WordList, ...], pydantic.Field(min_length=1)]
    """Lists of words, read once, when the pipeline is built."""


FilterStep = C4Step | GopherQualityStep | GopherRepetitionStep | FineWebStep | LanguageStep | BadWordsStep


class GutenbergStep(CleaningStep):
    """Cuts Project Gutenberg's header and footer, its licence among them."""

    kind: Literal["gutenberg"]
    credits: bool = True
    """True to cut, after a header, also the paragraph on who produced the book."""
