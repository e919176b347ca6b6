"""Words: runs of characters between spaces, divided by ICU's rules in scripts that have no spaces."""

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import icu

from firth.segmentation.scripts import has_unspaced, syllabic_characters

_RUN = re.compile(r"\S+")
_iterators = threading.local()


def split_words(text: str) -> list[str]:
    """Returns the words of a text, which joined are the text without its white space.

    A word is a run of characters between white space, its punctuation included. In Thai, Lao, Khmer, Burmese,
    Tibetan, Chinese and Japanese such a run is divided by ICU's rules and dictionaries (Unicode's UAX 29); in
    other scripts without spaces, such as Javanese and Yi, each syllable is a word. Punctuation belongs to the
    word before it.

    Example:

    >>> split_words("我們在 Berlin 住，很好。")
    ['我們', '在', 'Berlin', '住，', '很好。']
    """
    if not has_unspaced(text):
        return text.split()
    return [
        run[start:end]
        for run in text.split()
        for start, end in (_parts(run) if has_unspaced(run) else _whole(run))
    ]


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and the end of each word of `split_words`.

    Example:

    >>> list(word_spans("to 我們在"))
    [(0, 2), (3, 5), (5, 6)]
    """
    is_unspaced = has_unspaced(text)
    for found in _RUN.finditer(text):
        begin, end = found.span()
        if is_unspaced and has_unspaced(found[0]):
            yield from ((begin + first, begin + last) for first, last in _parts(found[0]))
        else:
            yield begin, end


def count_words(text: str) -> int:
    """Returns the number of words that `split_words` finds.

    Example:

    >>> count_words("It was the best of times."), count_words("สวัสดีชาวโลก")
    (6, 3)
    """
    return len(split_words(text))


def _whole(run: str) -> list[tuple[int, int]]:
    return [(0, len(run))]


def _parts(run: str) -> list[tuple[int, int]]:
    """Returns the start and the end of each word of a run without white space."""
    breaks = _breaks(run)
    starts = [place for place in breaks[:-1] if run[place].isalnum()]
    starts[:1] = [0]
    return list(zip(starts, [*starts[1:], len(run)]))


def _breaks(run: str) -> list[int]:
    """Returns ICU's bounds of words in a run, its begin and end included."""
    breaks = _found_by(icu.BreakIterator.createWordInstance, run)
    syllabic = syllabic_characters()
    if not syllabic.occurs_in(run):
        return breaks
    syllables = _found_by(icu.BreakIterator.createCharacterInstance, run)[:-1]
    return sorted({*breaks, *(place for place in syllables if syllabic.occurs_in(run[place]))})


def _found_by(make: Callable[[Any], Any], run: str) -> list[int]:
    """Returns the bounds that an iterator of ICU finds in a run, its begin and end included."""
    # An iterator holds its text, so that each thread has its own.
    iterators = _iterators.__dict__
    if make.__name__ not in iterators:
        iterators[make.__name__] = make(icu.Locale.getRoot())
    iterator = iterators[make.__name__]
    iterator.setText(run)
    breaks = [0, *iterator]
    if max(run) <= "\uffff":
        return breaks
    # ICU counts characters beyond the first 65,536 twice.
    places = [place for place, each in enumerate(run) for _ in range(1 + (each > "\uffff"))]
    return [*(places[each] for each in breaks[:-1]), len(run)]
