"""Samples of a text, by which its language is identified."""

# Samples of a long text, and the fewest characters of one.
_SAMPLES = 10
_LEAST = 250


def language_sample(text: str, most: int) -> str:
    r"""Returns so many characters of a text, from all of it, with capitals folded where most letters are.

    The model of languages knows words as they are usually written, so that headings in capitals would be
    taken for another language.

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
