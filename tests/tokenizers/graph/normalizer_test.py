"""Ids and words equal the reference's for every character of Unicode, in several contexts.

What holds characters, or will soon, is read whole: planes 0 and 1, the compatible ideographs of plane 2 and
the beginning of plane 14. Of the other ideographs, of planes 2 and 3, the edges of each 16 code points are
read, and of the rest, which holds none or only private use, every 61st code point.

Ids are looked at where alphabets are, where ideographs decompose, and where the kernel splits words
otherwise, and of ideographs, syllables and the planes above at the edges of each 16 code points, which blocks
begin and end at; their words are read whole.
"""

import collections

import pytest
import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.normalizer import build_normalizer_model, stand_ins
from firth.tokenizers.training.counting import count_words

WHOLE = (*range(0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE1000))
IDEOGRAPHS = {point for point in range(0x20000, 0x34000) if point % 16 in (0, 15)}
POINTS = {*WHOLE, *IDEOGRAPHS, *range(0, 0x110000, 61)}.union(
    *(range(end - 15, end) for end in range(0x10000, 0x120000, 0x10000))
)
CHARACTERS = [chr(point) for point in sorted(POINTS) if not 0xD800 <= point < 0xE000]
WITH_IDS = [
    c
    for c in CHARACTERS
    if ord(c) < 0x3400
    or 0xF900 <= ord(c) < 0x10000
    or 0x2F800 <= ord(c) < 0x2FA20
    or ord(c) in stand_ins()
    or ord(c) % 16 in (0, 15)
]


def parts(texts, size=256):
    """Yields parts of a list: the reference takes less time for each text where it is given few."""
    for begin in range(0, len(texts), size):
        yield texts[begin : begin + size]


# With case kept, the words below show the same of each character.
@pytest.mark.parametrize("lowercase", [True, pytest.param(False, marks=pytest.mark.repeated)])
def test_ids(both, lowercase):
    ours, reference = both[lowercase]
    texts = [f"{c} a{c}b {c}{c}.[MASK]{c}" for c in WITH_IDS]
    expected = [ids for part in parts(texts) for ids in reference(part)]
    found = ours.tokenize(texts).to_list()
    wrong = [hex(ord(c)) for c, want, got in zip(WITH_IDS, expected, found, strict=True) if want != got]
    assert wrong == []


@pytest.mark.parametrize("lowercase", [True, pytest.param(False, marks=pytest.mark.repeated)])
def test_words(both, lowercase):
    """Ids hide after [UNK] what normalisation did to a character; words do not."""
    model = tf.constant(build_normalizer_model(lowercase, split=True))
    found = tf_text.FastBertNormalizer(model_buffer=model).normalize([f"a{c}b" for c in CHARACTERS])
    reference, wrong = both[lowercase][1], []
    for character, text in zip(CHARACTERS, found.numpy()):
        words = text.decode().split()
        # count_words splits off ideographs afterwards, in Python; the next test is about them.
        if words != [f"a{character}b"] and words != reference.words(f"a{character}b"):
            wrong.append(hex(ord(character)))
    assert wrong == []


@pytest.mark.parametrize("lowercase", [True, pytest.param(False, marks=pytest.mark.repeated)])
def test_counted_words(both, lowercase):
    """The words of texts that hold every character, each between letters."""
    texts = [" ".join(f"a{c}b" for c in part) for part in parts(CHARACTERS)]
    expected = collections.Counter(word for text in texts for word in both[lowercase][1].words(text))
    assert count_words(texts, lowercase) == expected
