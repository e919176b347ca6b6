"""Strings on which tokenizers disagree, and a vocabulary small enough to read."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_OTHERS = "áéñüßœæøıſσςΣабвюяйAEÉÑÜİЯЮאבערبعةกขาำ가가あアäÅΩΩµ①½²ﬁ°™℡"
_ALONE = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~、。「」…—–“”‘’«»¿¡§¶·中文漢字豈﨎😀👩👧👍🇪🇺❤"
_MARKS = "\u0301\u0308\u0345\u0e49\u093f\u0651\u20dd\ufe0f\U0001f3fd"
# What the kernel alone would split off: an ideograph, and punctuation of newer versions of Unicode.
_SPLIT_BY_KERNEL = "\U0002b820\u061d\u2e43\U00011660"

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_WORDS = [
    "the",
    "fox",
    "The",
    "##ing",
    "##s",
    "mask",
    "sep",
    "strasse",
    "straße",
    "istanbul",
    "ναι",
    "##ναι",
    "ab",
]
# Pieces that no text leads to: HF never yields them, and neither may we.
_UNREACHABLE = ["a.b", "##.", "##中", "...", "##", "a b", "##É", "\u200b", "中文"]


def _vocabulary() -> list[str]:
    single = [*_LETTERS, *_OTHERS, *_ALONE, *_MARKS, *_SPLIT_BY_KERNEL]
    inside = [f"##{character}" for character in [*_LETTERS, *_OTHERS, *_MARKS, *_SPLIT_BY_KERNEL]]
    return list(dict.fromkeys([*SPECIALS, *single, *inside, *_WORDS, *_UNREACHABLE]))


VOCABULARY = _vocabulary()

_SPACES = [
    *(chr(point) for point in (0x9, 0xA, 0xB, 0xC, 0xD, 0x1C, 0x1F, 0x20, 0x85, 0xA0, 0x1680, 0x180E)),
    *(
        chr(point)
        for point in (*range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF)
    ),
]
_CONTROLS = [
    0x0,
    0x1,
    0x7F,
    0x80,
    0x81,
    0x9F,
    0xAD,
    0x600,
    0x61C,
    0x200D,
    0xFFF9,
    0xFFFC,
    0xFFFD,
    0xFFFE,
    0xFFFF,
]
_UNUSUAL = [0x378, 0x0E80, 0x2FE0, 0xE000, 0xF8FF, 0xE0001, 0xE0061, 0xE01EF, 0xF0000, 0x10FFFD, 0x10FFFF]

STRINGS = [
    # Nothing, and next to nothing.
    *["", " ", "\n", "\t \u00a0\u3000", "\u0301", "\u200b", "\u0000", "\ufeff", "a", "\ufeffa"],
    # Accents and combining marks.
    *[
        "café",
        "cafe\u0301",
        "CAFÉ",
        "naïve Ünïcödé",
        "e\u0301\u0308\u0301",
        "a\u0345b",
        "\u0301a",
        "Å Å A\u030a",
    ],
    *["ạ̈", "e\u20dd", "ñ ñ", "ﬁne ﬂow ﬀ ﬃ ﬆ", "① ½ ² ℡ ™ ㎏ ﷺ", "ＦＵＬＬ ｗｉｄｔｈ １２", "µ μ Ω Ω K K"],
    # Case.
    *[
        "İstanbul ISTANBUL ıı",
        "Straße STRASSE ẞ",
        "ΣΊΣΥΦΟΣ σς Σ",
        "ΝΑΙ ναι",
        "ǅ ǆ Ǆ",
        "Ⅷ Ⓐ ⓐ",
        "ЯЮ Йй",
        "ꭰ Ꭰ 𐐀 𐐨",
    ],
    # Scripts.
    *[
        "中文和English混排",
        "漢字かな交じり文",
        "豈 﨎 你 丽",
        "ひらがなアｱ゛ガ",
        "가각 한국어 \u1100\u1161\u11a8",
        "ภาษาไทย น้ำ กา",
    ],
    *[
        "हिन्दी कि",
        "العربية عَرَبِيّ",
        "עברית שלום בְּ",
        "abc العربية def",
        "\u202eabc\u202c",
        "a\U0002b820b 𠀀 𪛟 丽",
    ],
    *["\u302e\u3030", "中\u0301文", "あ\u3099", "a\u061db \u2e43 x\U00011660y", "ꙮ ᚠ 𝔘𝔫𝔦 𝒞"],
    # Emoji.
    *["😀", "a😀b", "👩‍👩‍👧", "👍🏽", "🇪🇺", "❤️ ❤", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "😀😀 fox"],
    # Punctuation and digits.
    *[
        "It's $3.14 + 1 < 2 = 3 > 2 ^ ` | ~",
        "a.b",
        "...",
        "--",
        "##",
        "##s",
        "a##b",
        "#a",
        "_a_",
        "«a» “b” ‘c’",
        "¿a? ¡b!",
    ],
    *[
        "a·b a‧b a・b",
        "1,000.50",
        "x=1;y=[2]",
        "a\\b/c",
        "§¶©®°±×÷¬¦",
        "a—b–c…d",
        "、。「a」",
        "\u037e \u0387 \u2329a\u232a",
    ],
    # Special pieces typed in text.
    *[
        "[MASK]",
        "[MASK][MASK]",
        "the [MASK]s",
        "a[MASK]b",
        "[mask]",
        "[Mask]",
        "[[MASK]]",
        "[MASK",
        "MASK]",
        "[ MASK ]",
    ],
    *[
        "[CLS] a [SEP] b [SEP] [PAD] [UNK]",
        "[MA\u0000SK]",
        "[MA\u0080SK]",
        "[MA\u0301SK]",
        "[MASK]\u0301 [MASK]\u200b",
    ],
    *[
        "[MASK].",
        "中[MASK]文",
        "\u0080mask\u0080",
        "\u0080[MASK]\u0080",
        "[MASK]\u0080",
        "\u0081[SEP]\u0081",
        "［MASK］",
        "[CLS][SEP]",
    ],
    *["[PAD]a[PAD]", "[UNK]ing", "fox[SEP]", "[X] [MASK1]", "\U000f0000 a\U000f0001b"],
    # Long words: the limit counts characters after normalisation.
    *["a" * 99, "a" * 100, "a" * 101, "я" * 50, "я" * 51, "я" * 100, "я" * 101, "the " + "a" * 500 + " fox"],
    *[
        "é" * 100,
        "é" * 101,
        "e\u0301" * 100,
        "a\u200b" * 100,
        "가" * 50,
        "가" * 51,
        "😀" * 100,
        "😀" * 101,
        "中" * 101,
    ],
    *[
        "a" * 100 + "." + "b" * 101,
        "a" * 101 + "." + "b" * 100,
        "я" * 100 + "b",
        "я" * 99 + "b",
        "ก" * 100 + " fox " + "ก" * 101,
    ],
    *[
        "\U0002b820" * 100,
        "\U0002b820" * 101,
        "☃" * 30,
        "☃" * 60,
        "я" * 60 + "☃",
        "я" * 60 + " a " + "ю" * 70 + "." + "x" * 101,
    ],
    *["[MASK]" + "я" * 60 + "[MASK]", "." * 101, "a" * 300 + "\u00a0" + "я" * 90],
    # Each kind of space and of invisible character between letters, alone, and between spaces.
    *(f"a{character}b {character} c{character}" for character in _SPACES),
    *(f"a{chr(point)}b {chr(point)} c{chr(point)}" for point in _CONTROLS + _UNUSUAL),
    "The fox\r\nfoxes the\u2028fox\u2029\u0085foxing. " * 3,
]
