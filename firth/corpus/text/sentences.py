"""Rule-based splitting of text into sentences."""

import re

# A sentence ends at a blank line, or after a full stop, question or exclamation mark (closing quotes and
# brackets go with it) that a space follows.
_END = re.compile(r"\n[^\S\n]*\n\s*|[.!?][\"'”’»)\]]*\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
# Unicode's white space; Python's strip() removes further characters.
_SPACES = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_OPENING = frozenset("\"'“‘«([")


def split_sentences(text: str) -> list[str]:
    r"""Returns the sentences of a text, with the white space after each, so that joined they are the text.

    A new sentence begins after a blank line. It also begins after `.`, `!` or `?`, closing quotes and
    brackets, and white space, if the next character is an upper-case letter, a digit, an opening quote or a
    bracket.

    Args:
        text: The text, which may be empty.

    Example:

    >>> split_sentences("See e.g. numpy. It adds 2.5 up. (Mostly.)\n\nreturns: a sum")
    ['See e.g. numpy. ', 'It adds 2.5 up. ', '(Mostly.)\n\n', 'returns: a sum']
    """
    sentences, start = [], 0
    for match in _END.finditer(text):
        end = match.end()
        if end < len(text) and (_opens(text[end]) or _BLANK_LINE.search(match.group())):
            sentences.append(text[start:end])
            start = end
    sentences.append(text[start:])
    return sentences


def spaces_to_next(sentences: list[str]) -> list[str]:
    r"""Returns the sentences with the white space after each moved to the beginning of the next one.

    Tokenizers whose pieces begin with a space then give each sentence the tokens that it has in the whole
    text.

    Args:
        sentences: The sentences of `split_sentences`.

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


def _opens(character: str) -> bool:
    return character.isupper() or character.isdigit() or character in _OPENING
