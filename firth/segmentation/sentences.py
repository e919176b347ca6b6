"""Sentences, by the marks that end them in each script."""

import functools
import re

from firth.segmentation.words import CharacterSet, unspaced_characters

_LATIN_END = re.compile(r"\n[^\S\n]*\n\s*|[.!?][\"'”’»)\]]*\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
# Unicode's white space; Python's strip() removes further characters.
_SPACES = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_OPENING = frozenset("$£€\"'“‘«([¿¡„‚‹「『《〈（【")
_CLOSING = r"\"'”’»)\]›」』】）》〉〗］｝｠｣＂＇"
# Unicode's Sentence_Terminal without marks of typography and the Burmese comma, and the strokes of Tibetan.
_MARKS = "[[:Sentence_Terminal:]-[!.?\uff0e\u104a\ufe52\u2000-\u2fff]\u0f0d-\u0f12]"
_CONTINUES = "、，,：:；;…‥・-"
# Scripts that have no mark. Spaces are between sentences and clauses there, and also around names, numbers
# and conjunctions, which are shorter than this many characters.
_UNMARKED = "[[:Thai:][:Lao:]-[:Nd:]-[:P:]]"
_LONG = 12
_GREEK = "[\u0370-\u03ff\u1f00-\u1fff]"
# Mkhedruli has a single case, which Unicode calls lower.
_GEORGIAN = ("\u10d0", "\u10ff")


@functools.cache
def _others() -> CharacterSet:
    """Returns the characters that need more than the rules of Latin script."""
    return CharacterSet(f"[{_MARKS}{_UNMARKED}{_GREEK}{unspaced_characters().pattern}．]")


@functools.cache
def _end() -> re.Pattern[str]:
    """Returns the pattern of possible ends of sentences; if a group matches, the next character decides."""
    marks, unmarked = CharacterSet(_MARKS).inside, CharacterSet(_UNMARKED).inside
    unspaced = unspaced_characters().inside
    closing = rf"[{_CLOSING}]*"
    return re.compile(
        # One class in front of all others, which a search skips to.
        rf"[\n.!?;．፡{marks}{unmarked}](?:"
        r"(?<=\n)[^\S\n]*\n\s*"
        rf"|(?<=[.!?])(?P<asks>{closing}\s+)"
        rf"|(?<=[{unspaced}][.!?]){closing}(?=[{unspaced}])"
        # Two signs between words of Ethiopic are often typed for its full stop.
        rf"|(?:(?<=[{marks}])|(?<=፡)፡|(?<=．)(?![0-9０-９]))[.!?．፡{marks}{_CLOSING}]*"
        rf"(?![.!?．{marks}{_CLOSING}{re.escape(_CONTINUES)}])\s*"
        rf"|(?<=[{unmarked}]{{{_LONG}}})\s+(?=[{unmarked}]{{{_LONG}}})"
        rf"|(?<=[{unmarked}])[^\S\n]*\n\s*(?=[{unmarked}])"
        rf"|(?<={_GREEK};)(?P<greek>\s+)"
        ")"
    )


def split_sentences(text: str) -> list[str]:
    r"""Returns the sentences of a text, with the white space after each, so that joined they are the text.

    A new sentence begins after a blank line. It also begins after `.`, `!` or `?`, closing quotes and
    brackets, and white space, if the next character is an upper-case letter, a letter of a script without
    case, a digit, an opening quote or a bracket. The marks of other scripts, such as `。`, `।`, `؟` and `።`,
    end a sentence whatever follows, white space or not; so do `!` and `?` between two characters of a script
    without spaces. Thai and Lao have no mark: there a space between two long runs of letters ends a sentence,
    and so does a line break.

    Example:

    >>> split_sentences("See e.g. numpy. It adds 2.5 up. (Mostly.)\n\nreturns: a sum")
    ['See e.g. numpy. ', 'It adds 2.5 up. ', '(Mostly.)\n\n', 'returns: a sum']
    >>> split_sentences("我們住在這裡。「好嗎？」很好！")
    ['我們住在這裡。', '「好嗎？」', '很好！']
    """
    sentences, start = [], 0
    pattern = _end() if not text.isascii() and _others().occurs_in(text) else _LATIN_END
    for match in pattern.finditer(text):
        end = match.end()
        if end < len(text) and _begins(text, match):
            sentences.append(text[start:end])
            start = end
    sentences.append(text[start:])
    return sentences


def _begins(text: str, match: re.Match[str]) -> bool:
    """Returns whether a sentence begins after a match."""
    following = text[match.end()]
    if match.re is _LATIN_END or match["asks"]:
        return _opens(following) or _BLANK_LINE.search(match.group()) is not None
    return not match["greek"] or following.isupper()


def _opens(character: str) -> bool:
    if character.isalpha():
        return not character.islower() or _GEORGIAN[0] <= character <= _GEORGIAN[1]
    return character.isdigit() or character in _OPENING


def spaces_to_next(sentences: list[str]) -> list[str]:
    r"""Returns the sentences with the white space after each moved to the beginning of the next one.

    Tokenizers whose pieces begin with a space then give each sentence the tokens that it has in the whole
    text.

    Example:

    >>> spaces_to_next(["It adds. ", "(Mostly.)\n\n", "returns"])
    ['It adds.', ' (Mostly.)', '\n\nreturns']
    """
    moved, carried = [], ""
    for index, sentence in enumerate(sentences):
        kept = sentence if index == len(sentences) - 1 else sentence.rstrip(_SPACES)
        moved.append(carried + kept)
        carried = sentence[len(kept) :]
    return moved


@functools.cache
def _unmarked_end() -> re.Pattern[str]:
    return re.compile(rf"[{CharacterSet(_UNMARKED).inside}][{_CLOSING}]*\Z")


def ends_without_mark(line: str) -> bool:
    """Returns whether a line ends in a letter of a script that has no mark for the end of a sentence.

    Example:

    >>> ends_without_mark("สวัสดีชาวโลก"), ends_without_mark("Home")
    (True, False)
    """
    return (
        not line.isascii() and _unmarked_end().search(line, len(line) - 8 if len(line) > 8 else 0) is not None
    )
