"""What the kernel alone would get wrong: long words, odd pieces, bytes that are not text."""

import hypothesis
import pytest
from hypothesis import strategies as st

from firth.tokenizers import WordPieceTokenizer
from tests.tokenizers.golden.hard_strings import SPECIALS, STRINGS, VOCABULARY
from tests.tokenizers.reference import Reference

UNKNOWN = VOCABULARY.index("[UNK]")
PARTS = st.sampled_from(
    [
        *"aÉя☃中.#\u0301\u200b\u00a0\u0080\u0081\U0002b820가",
        " ",
        "[MASK]",
        "[",
        "MASK]",
        "the",
        "я" * 60,
        "a" * 60,
        "##",
    ]
)


@hypothesis.settings(max_examples=75, deadline=None, derandomize=True)
@hypothesis.given(parts=st.lists(st.lists(PARTS, max_size=8).map("".join), min_size=1, max_size=8))
def test_made_up_text_equals_the_reference(both, parts):
    for ours, reference in both.values():
        assert ours.tokenize(parts).to_list() == reference(parts)


@hypothesis.settings(max_examples=75, deadline=None, derandomize=True)
@hypothesis.given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_any_text_equals_the_reference(both, texts):
    for ours, reference in both.values():
        assert ours.tokenize(texts).to_list() == reference(texts)


@pytest.mark.parametrize("letter", ["a", "я", "中", "ก", "😀", "\U0002b820"])
@pytest.mark.parametrize("limit", [8, 9, 100])
def test_the_limit_counts_characters(letter, limit):
    pieces = [*SPECIALS, letter, f"##{letter}"]
    ours, reference = WordPieceTokenizer(pieces, True, limit), Reference(pieces, True, limit)
    texts = [letter * n for n in (1, limit - 1, limit, limit + 1, 5 * limit)]
    assert ours.tokenize(texts).to_list() == reference(texts)
    if letter != "中":
        assert ours.tokenize(texts).row_lengths().numpy().tolist() == [1, limit - 1, limit, 1, 1]


def test_pieces_that_no_text_leads_to_are_never_given(both):
    ids = [
        both[True][0].token_to_id(piece) for piece in ("a.b", "##.", "##中", "...", "##", "##É", "Ü", "中文")
    ]
    found = both[True][0].tokenize(STRINGS).flat_values.numpy().tolist()
    assert set(ids) & set(found) == set()


@hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
@hypothesis.given(
    st.lists(st.binary(max_size=12) | st.text(max_size=4).map(str.encode), max_size=5).map(b"".join)
)
def test_invalid_bytes_are_dropped(both, content):
    ours = both[True][0]
    valid = content.decode("utf-8", errors="ignore")
    assert ours.tokenize([content]).to_list() == ours.tokenize([valid]).to_list()


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"a\xffb",
        b"\xe4\xb8",
        b"a\xe4\xb8 b",
        b"\xed\xa0\x80a",
        b"\xc0\xaf",
        b"\xf5\x80\x80\x80a",
        b"\x80" * 500,
    ],
)
def test_some_invalid_bytes(both, content):
    ours, reference = both[True]
    assert ours.tokenize([content]).to_list() == reference([content.decode("utf-8", errors="ignore")])


def test_the_known_difference(both):
    """Marks of two combining classes in an order that is not canonical: the reference sorts them."""
    pieces = [*SPECIALS, "a", "##\u302e", "##\u1b44"]
    ours, reference = WordPieceTokenizer(pieces), Reference(pieces, lowercase=True)
    assert ours.tokenize(["a\u1b44\u302e"]).to_list() == reference(["a\u1b44\u302e"]) == [[5, 7, 6]]
    assert ours.tokenize(["a\u302e\u1b44"]).to_list() == [[5, 6, 7]]
    assert reference(["a\u302e\u1b44"]) == [[5, 7, 6]]
