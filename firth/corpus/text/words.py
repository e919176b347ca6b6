"""Words without case, punctuation and invisible characters, by which documents are compared."""

import functools
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from firth.corpus.text.line_shares import characters
from firth.corpus.text.unicode_forms import normalize
from firth.segmentation.scripts import has_unspaced
from firth.segmentation.words import split_words

_ASCII_PUNCTUATION: dict[int, None] = dict.fromkeys(
    [*map(ord, string.punctuation), *(code for code in range(128) if not chr(code).isprintable())]
)
for _space in map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x1f"):
    del _ASCII_PUNCTUATION[_space]
_MAX_PASSES = 100
# Unicode's Default_Ignorable_Code_Point among letters and accents: characters that are not displayed.
_INVISIBLE = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)


def comparable_words(text: str) -> list[str]:
    """Returns the words of a text without case, punctuation, symbols and invisible characters.

    A word is one of `split_words`: a run of non-space characters, which ICU's rules divide in scripts without
    spaces. Punctuation inside a word is removed and its parts are joined, as
    in the comparison of GPT-3 (arXiv:2005.14165, appendix C); punctuation on its own is not a word. Invisible
    characters, such as soft hyphens and zero-width spaces, are removed too. Letters of another width or form
    are replaced by their usual form (Unicode's NFKC). Accents are kept, because they distinguish words.

    Example:

    >>> comparable_words("Don't -- “stop”, E.T.!")
    ['dont', 'stop', 'et']
    >>> comparable_words("co­operate ＷＨＯ zero​width")
    ['cooperate', 'who', 'zerowidth']
    """
    if not has_unspaced(text):
        return comparable_forms(text)
    return [form for word in split_words(text) for form in comparable_forms(word)]


def comparable_forms(word: str) -> list[str]:
    """Returns the words that one of `split_words` is compared as: none if it is punctuation alone.

    A ligature may stand for several words.

    Example:

    >>> comparable_forms("好，"), comparable_forms("--")
    (['好'], [])
    """
    if word.isascii():
        return word.lower().translate(_ASCII_PUNCTUATION).split()
    return _fold(word, _is_mark_or_invisible).split()


def comparable_text(text: str) -> str:
    """Returns a text in NFKC, case-folded and without invisible characters.

    Example:

    >>> comparable_text("Straße, Ａ​B")
    'strasse, ab'
    """
    return text.lower() if text.isascii() else _fold(text, _is_invisible)


def _fold(text: str, is_left_out: Callable[[str], bool]) -> str:
    characters = set(text)
    text = _without(text, [each for each in characters if is_left_out(each)])
    if not any(_changes(each) for each in characters if not is_left_out(each)):
        return text.lower()
    normalized = normalize("NFKC", text)
    folded = normalize("NFKC", normalized.casefold())
    return folded if normalized == text else "".join(each for each in folded if not is_left_out(each))


def _without(text: str, left_out: list[str]) -> str:
    # One pass for each of a few different characters is quicker than one test for each position.
    if len(left_out) > _MAX_PASSES:
        return text.translate(dict.fromkeys(map(ord, left_out)))
    for character in left_out:
        text = text.replace(character, "")
    return text


@functools.lru_cache(maxsize=2**16)
def _changes(character: str) -> bool:
    """Returns whether a text with this character may have another form than its lower case."""
    if unicodedata.category(character)[0] == "M" or "\u1100" <= character <= "\u11ff" or character == "Σ":
        return True
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded != character.lower()


@functools.lru_cache(maxsize=2**16)
def _is_mark_or_invisible(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS" or _is_invisible(character)


@functools.lru_cache(maxsize=2**16)
def _is_invisible(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Cf" or character in _INVISIBLE or (category == "Cc" and not character.isspace())


# Thai and Lao, Burmese, Khmer, kana with the marks of repetition, Han.
_RANGES = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3041, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFD),
)
_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES)
_MARKS = "".join(
    character
    for first, last in _RANGES[:-1]
    for character in map(chr, range(first, last + 1))
    if unicodedata.category(character).startswith("M")
)
_WORD = re.compile(rf"[{_UNSPACED}][{_MARKS}]*[^\w\s{_UNSPACED}]*|[^\s{_UNSPACED}]+")


def unspaced_words(text: str) -> list[str]:
    """Returns the words of a text, in which each character of a script without spaces is a word of its own.

    Its accents and the punctuation after it belong to it. Other scripts have words between spaces. BERT's
    tokenizers divide Han so too; no dictionary is asked where a word of several characters ends.

    Example:

    >>> unspaced_words("我們在 Berlin 住，很好。")
    ['我', '們', '在', 'Berlin', '住，', '很', '好。']
    """
    return _WORD.findall(text)


def are_too_short(words: Sequence[str], least: float) -> bool:
    """Returns whether words have fewer letters than `least` on average.

    Letters that are written as one, such as syllables of Hangul and vowels with accents, count by their
    parts. Words of scripts without spaces are not measured: a word of Chinese has one or two characters.

    Example:

    >>> are_too_short(["a", "bc"], 3.0), are_too_short(["그", "모든"], 3.0), are_too_short(["他", "很"], 3.0)
    (True, False, False)
    """
    if characters(words) >= least * len(words):
        return False
    measured = _measured(words)
    return characters(normalize("NFD", word) for word in measured) < least * len(measured)


def are_too_long(words: Sequence[str], most: float) -> bool:
    """Returns whether words have more letters than `most` on average.

    Marks on letters, such as the vowels of Indic scripts, do not count. Words of scripts without spaces are
    not measured.

    Example:

    >>> are_too_long(["abcd", "abc"], 3.0), are_too_long(["हिन्दी"], 3.0)
    (True, False)
    """
    if characters(words) <= most * len(words):
        return False
    measured = _measured(words)
    return characters(measured) - sum(map(count_marks, measured)) > most * len(measured)


def count_marks(text: str) -> int:
    """Returns the number of marks on letters: accents, and vowels that are written around a consonant.

    Example:

    >>> count_marks("हिन्दी"), count_marks("word")
    (3, 0)
    """
    if text.isascii():
        return 0
    return sum(count for each, count in Counter(text).items() if unicodedata.category(each)[0] == "M")


def _measured(words: Sequence[str]) -> list[str]:
    """Returns the words of scripts with spaces, or none where most words are of others."""
    spaced = [word for word in words if not has_unspaced(word)]
    return spaced if 2 * len(spaced) >= len(words) else []
