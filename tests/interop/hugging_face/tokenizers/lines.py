"""Text for tokenizers: words to train on, and lines with all that is hard in Unicode, made from a seed."""

import random

SAMPLE = (
    """Every word's neighbours tell what it means, so count them: 1, 2, 3 ... 4,096 of them!
    def neighbours(words):\n        return [pair for pair in zip(words, words[1:])]
Größe, façade, naïveté; Ελληνικά, русский, 한국어, 中文。 It isn't what they'll say, is it?
The quick brown foxes jump over the lazy dogs; the dogs didn't mind (not at all).
"""
    * 3
)
PLAIN = SAMPLE.split()
HARD = [
    *("e\u0301", "a\u0323\u0302", "\u0301", "ﬁ", "Ⅷ", "½", "ſ", "İ", "ẞ", "ΣΊΣΥΦΟΣ", "Å", "\u212a"),
    *("👩\u200d👩\u200d👧", "👍🏽", "🇪🇺", "☃\ufe0f", "𝔘𝔫𝔦", "\U0010ffff", "\ue000", "\ufffd", "\U0002b820"),
    *(
        "\u202eabc\u202c",
        "עברית",
        "العربية",
        "\u200f",
        "ภาษาไทย",
        "हिन्दी",
        "中文和",
        "ひらがな",
        "한국어",
        "々",
    ),
    *("\x00", "\x07", "\x1b[0m", "\x7f", "\x85", "\u200b", "\ufeff", "\u00ad", "\u2060", "\x80", "\x81"),
    *(
        "a" * 120,
        "ю" * 101,
        "x" * 40,
        "#" * 9,
        "##s",
        "Ġthe",
        "▁the",
        "''",
        "'s",
        "'LL",
        "n't",
        "http://a.b/c?d=e",
    ),
]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u2028", "\x0b", "\x1c", ""]


def hostile_lines(count, specials, seed=0):
    """Lines of plain words, hard ones, special pieces and parts of them, and any characters."""
    choose = random.Random(seed)
    broken = [piece[:-1] for piece in specials] + [piece.upper() for piece in specials]
    parts = [*HARD, *specials, *specials, *broken, *(piece.lower() for piece in specials)]
    return [_line(choose, parts) for _ in range(count)]


def _line(choose, parts):
    line = []
    for _ in range(choose.randrange(1, 9)):
        drawn = choose.random()
        if drawn < 0.5:
            line.append(choose.choice(PLAIN))
        elif drawn < 0.85:
            line.append(choose.choice(parts))
        else:
            line.append("".join(map(chr, (_any_point(choose) for _ in range(choose.randrange(1, 4))))))
        line.append(" " if choose.random() < 0.6 else choose.choice(SPACES))
    return "".join(line)


def _any_point(choose):
    last = choose.choice([0x7F, 0x24F, 0x1FFF, 0xFFFF, 0x10FFFF])
    point = choose.randrange(last + 1)
    return point if not 0xD800 <= point < 0xE000 else 0x20
