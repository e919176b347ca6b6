"""Where sentences begin."""

import re

# A sentence ends at a blank line, or behind a full stop, question or exclamation mark (closing quotes and
# brackets go with it) that a space follows.
_END = re.compile(r"\n[^\S\n]*\n\s*|[.!?][\"'”’»)\]]*\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_OPENING = frozenset("\"'“‘«([")


def split_sentences(text: str) -> list[str]:
    r"""Returns the sentences of a text; joined they are the text.

    A new sentence begins behind a blank line, and behind `.`, `!` or `?` (with the quotes and brackets that
    close there) and space, if an upper-case letter, a digit, or an opening quote or bracket comes next.

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


def _opens(character: str) -> bool:
    return character.isupper() or character.isdigit() or character in _OPENING
