"""Steps equal Hugging Face's normalisers on every character, by itself and next to others.

What holds characters, or will soon, is read whole: planes 0 to 2 and the beginnings of planes 3 and 14. Of
the rest, which holds none or only private use, every 61st code point is.
"""

import re

import pytest
import sentencepiece
import tensorflow as tf
import tokenizers.normalizers as theirs

from firth.tokenizers import count_spaced_words, train_sentencepiece
from firth.tokenizers.graph.text_steps import SPACE, TextSteps
from tests.repeating import often
from tests.tokenizers.golden.hard_strings import STRINGS

WHOLE = (*range(0xD800), *range(0xE000, 0x34000), *range(0xE0000, 0xE1000))
POINTS = sorted({*WHOLE, *range(0xE000, 0x110000, 61)})
CHARACTERS = [*map(chr, POINTS)]

# They compose since Unicode 16.
YOUNGER_PAIRS = ["\U000105d2\u0307", "\U000105da\u0307", "\U00011382\U000113c9", "\U00016d67\U00016d67"]
# Pieces of users stay as they are.
SPECIAL = re.compile(r"\[(CLS|SEP|MASK)\]|\0")
PAIRS = [
    (("NFC",), theirs.NFC()),
    (("NFD",), theirs.NFD()),
    (("NFKC",), theirs.NFKC()),
    (("NFKD",), theirs.NFKD()),
    (("lowercase",), theirs.Lowercase()),
    (("strip_accents",), theirs.StripAccents()),
    ((rf"\A{SPACE}+|{SPACE}+\z", ""), theirs.Strip()),
]


# The forms that are left out here are in the next test.
@pytest.mark.parametrize(
    ("step", "normalizer"),
    often(PAIRS, [pair for pair in PAIRS if pair[0][0] not in ("NFC", "NFKD")]),
    ids=[str(step[0]) for step, _ in PAIRS],
)
def test_steps_equal_the_reference_s(step, normalizer):
    texts = [*CHARACTERS, *STRINGS, "ΑΣ ΣΑΣ İI"]
    found = TextSteps([step], b"")(tf.constant(texts)).numpy().tolist()
    wrong = [text for text, ours in zip(texts, found) if ours.decode() != normalizer.normalize_str(text)]
    assert [ascii(text) for text in wrong] == []


@pytest.mark.parametrize("form", often(["NFC", "NFD", "NFKC", "NFKD"], ["NFC", "NFKD"]))
def test_forms_of_characters_next_to_marks(form):
    """A character that is younger than the reference neither moves nor composes; nothing moves past it."""
    between = [
        f"e{character}\u0301\u0323{character}\u0307" for character in CHARACTERS if ord(character) < 0x20000
    ]
    texts = ["".join(between[start : start + 32]) for start in range(0, len(between), 32)]
    texts += YOUNGER_PAIRS
    normalizer = getattr(theirs, form)()
    found = [text.decode() for text in TextSteps([(form,)], b"")(tf.constant(texts)).numpy()]
    wrong = [(text, ours) for text, ours in zip(texts, found) if ours != normalizer.normalize_str(text)]
    assert [ascii(each) for each in wrong] == []


def test_the_map_of_a_model_equals_the_package_s():
    model = train_sentencepiece(count_spaced_words(STRINGS), 400, "unigram", lowercase=True)
    package = sentencepiece.SentencePieceNormalizer(
        model_proto=model, add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False
    )
    texts = [text for text in [*CHARACTERS, *STRINGS, "e\u0301\u0302", "  a  b "] if not SPECIAL.search(text)]
    found = TextSteps([("own_map",)], model)(tf.constant(texts)).numpy().tolist()
    wrong = [text for text, ours in zip(texts, found) if ours.decode() != package.normalize(text)]
    assert [ascii(text) for text in wrong] == []


def test_a_step_that_is_not_known_is_named():
    with pytest.raises(ValueError, match=r"\['upper'\] is neither \[pattern, replacement\] nor one of NFC"):
        TextSteps([("upper",)], b"")
