"""Normalisation, and that the TensorFlow graph can repeat it."""

import itertools
import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings, strategies as st

from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.filters.normalize import Normalize, normalize_text
from firth.recipes.corpus.normalization import Normalization, NormalizeStep
from firth.tokenizers.graph.text_normalization import TextNormalization
from tests.corpus.helpers import document
from tests.shared_data import shared_data

OPTIONS = [
    Normalization(line_endings=lines, control_characters=controls, form=form, whitespace=whitespace)
    for lines, controls, form, whitespace in itertools.product(
        (True, False), (True, False), ("NFC", "NFKC"), ("keep", "margins", "collapse")
    )
]
# Letters, marks that compose with them, and what the rules are about, thrown together.
CHARACTERS = (
    "aeA.  \t\t\n\n\r\x0b\x0c\x00\x1b\x1e\x7f\x85\x9f\xa0\u0301\u0308\u0327\u1100\u1161\u2003\u2028\u3000"
    "\ufb01\ufeff¨é½가"
)
TEXTS = st.text(st.sampled_from(CHARACTERS) | st.characters(exclude_categories=["Cs", "Cn"]))


def normalize_in_graph(texts: list[str], options: Normalization) -> list[str]:
    normalized = TextNormalization(options.text_steps)(tf.constant(texts))
    return [text.decode() for text in normalized.numpy()]


TABLE = [
    ({}, "as it is", "as it is"),
    ({}, "page\x0cnext\x0bline", "page\nnext\nline"),
    ({}, "e\x00\u0301", "é"),
    ({"line_endings": False}, "a\r\nb\u2028c", "a\nb\u2028c"),
    ({"control_characters": False}, "a\x00\x1b\r\nb", "a\x00\x1b\nb"),
    ({"whitespace": "keep"}, " a \n", " a \n"),
    ({"whitespace": "margins"}, "\u3000a \t b \n", "a \t b"),
    ({"whitespace": "collapse"}, "a \t b\xa0c \n\n \n\n d", "a b c\n\nd"),
    ({"form": "NFKC"}, "\ufb01ne ½\xa0²", "fine 1\u20442 2"),
    ({"mojibake": True}, "cafÃ© au lait\nRÃ©sumÃ©\nnaïve — fine", "café au lait\nRésumé\nnaïve — fine"),
    ({"mojibake": True}, "donâ\x80\x99t", "don’t"),
    ({}, "cafÃ©", "cafÃ©"),
]


@pytest.mark.parametrize(("options", "text", "expected"), TABLE)
def test_by_hand(options, text, expected):
    assert normalize_text(text, Normalization(**options)) == expected


def test_mojibake_beside_a_long_line():
    """A pattern that begins anew at each character of a line would not come to its end."""
    line = "plain " * 100_000
    assert normalize_text(f"{line}\ncafÃ©", Normalization(mojibake=True)) == f"{line}\ncafé"


@pytest.mark.parametrize("whitespace", ["keep", "margins", "collapse"])
def test_a_document_of_spaces_is_empty(whitespace):
    step = Normalize(NormalizeStep(kind="normalize", whitespace=whitespace))
    assert step.decide(document("\x00 \n\u2003")) == Drop("empty")
    assert step.decide(document("a")) == Keep(document("a"))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(TEXTS, st.sampled_from(OPTIONS))
def test_normalizing_again_changes_nothing(text, options):
    once = normalize_text(text, options)
    assert normalize_text(once, options) == once


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(TEXTS, min_size=1, max_size=20), st.sampled_from(OPTIONS))
def test_the_graph_does_the_same(texts, options):
    assert normalize_in_graph(texts, options) == [normalize_text(text, options) for text in texts]


def moves(character, form):
    """Returns whether a form changes a character, or the character is a mark, which has a place."""
    return unicodedata.combining(character) > 0 or unicodedata.normalize(form, character) != character


@pytest.mark.parametrize("rest", [False, pytest.param(True, marks=pytest.mark.repeated)])
@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_the_graph_does_the_same_to_every_character(form, rest):
    """To those that a form changes or orders, and to some of the others, of which the rest is like them."""
    options = Normalization(form=form)
    points = (*range(0xD800), *range(0xE000, 0x24000), *range(0x2F800, 0x2FB00))
    points = [point for point in points if rest != (point % 16 == 0 or moves(chr(point), form))]
    each = [f"a{character}\u0323\u0301a {character}" for character in map(chr, points)]
    texts = ["\u2022".join(each[start : start + 64]) for start in range(0, len(each), 64)]
    assert normalize_in_graph(texts, options) == [normalize_text(text, options) for text in texts]


@pytest.mark.repeated
@pytest.mark.needs_data("golden/text_normalize", twin="test_the_graph_does_the_same")
def test_the_graph_does_the_same_to_real_lines():
    lines = shared_data("golden/text_normalize/text_normalization_ag_news_test.csv").read_bytes()
    texts = lines.decode().split("\n")[::4]
    for options in OPTIONS[::5]:
        assert normalize_in_graph(texts, options) == [normalize_text(text, options) for text in texts]
