"""Sentinels: special pieces at the end of the vocabulary, found in text like the other special ones."""

import pickle

import hypothesis
import numpy as np
import pytest
import tokenizers
from hypothesis import strategies as st

from firth.tokenizers import WordPieceTokenizer, load_tokenizer, save_tokenizer, train_wordpiece
from firth.tokenizers.graph.vocabulary import MOST_SENTINELS, sentinel_pieces
from tests.tokenizers.golden.hard_strings import SPECIALS, STRINGS, VOCABULARY
from tests.tokenizers.reference import Reference

COUNT = 12
DIGEST = "4671789bf34ed0ca00baf60b26524c836ca948f3d26129fdc1c29dcbc1c7ef39"
TEXT = "the <extra_id_0>fox <extra_id_11> <extra_id_12> <EXTRA_ID_0> <extra_id_01> [MASK]<extra_id_1>"
PARTS = st.sampled_from(
    [
        "the",
        "fox",
        " ",
        "<extra_id_0>",
        "<extra_id_3>",
        "<extra_id_11>",
        "<extra_id_12>",
        "<extra_id_",
        ">",
        "0",
    ]
)


@pytest.fixture(scope="module", params=[True, False])
def pair(request):
    """Our tokenizer with sentinels, and Hugging Face's with the same special pieces."""
    vocabulary = [*VOCABULARY, *sentinel_pieces(COUNT)]
    reference = Reference(vocabulary, request.param, splits=False)
    added = [tokenizers.AddedToken(piece, normalized=False, special=True) for piece in sentinel_pieces(COUNT)]
    reference._tokenizer.add_special_tokens(added)
    return WordPieceTokenizer(vocabulary, request.param), reference


def test_a_literal_example():
    tokenizer = WordPieceTokenizer(
        [*SPECIALS, "the", "fox", "<", "extra", "_", "id", "2", ">", *sentinel_pieces(2)]
    )
    assert tokenizer.sentinel_ids.tolist() == [14, 13]
    assert tokenizer.sentinel_ids.dtype == np.int32
    assert tokenizer.special_ids == (0, 1, 2, 3, 4, 14, 13)
    text = "the<extra_id_0>fox <extra_id_1> <extra_id_2>"
    ids = tokenizer.tokenize(text, specials=sentinel_pieces(2)).numpy().tolist()
    assert ids == [5, 14, 6, 13, 7, 8, 9, 10, 9, 11, 12]
    assert tokenizer.detokenize(ids[:4]) == b"the <extra_id_0> fox <extra_id_1>"


def test_ids_equal_the_reference_s(pair):
    ours, reference = pair
    texts = [TEXT, *STRINGS]
    assert ours.tokenize(texts, specials=ours.special_pieces).to_list() == reference(texts)
    assert set(ours.sentinel_ids[[0, 11, 1]]) <= set(
        ours.tokenize(TEXT, specials=ours.special_pieces).numpy()
    )


@hypothesis.settings(max_examples=30, deadline=None, derandomize=True)
@hypothesis.given(parts=st.lists(PARTS, max_size=10))
def test_any_text_with_sentinels_equals_the_reference_s(pair, parts):
    ours, reference = pair
    text = "".join(parts)
    ids = ours.tokenize(text, specials=ours.special_pieces).numpy().tolist()
    assert ids == reference([text])[0]


def test_without_sentinels_text_is_read_as_before(both):
    ours, reference = both[True]
    assert ours.sentinel_ids.tolist() == []
    assert ours.tokenize([TEXT]).to_list() == reference([TEXT])


def test_the_digest_of_a_tokenizer_without_sentinels_has_not_changed():
    """As the release before sentinels computed it: models that were made with a tokenizer still know it."""
    assert WordPieceTokenizer([*SPECIALS, "fox"]).digest == DIGEST


def test_saved_and_pickled(tmp_path, pair):
    ours, _ = pair
    digest = save_tokenizer(ours, tmp_path / "saved")
    for again in (load_tokenizer(tmp_path / "saved", digest), pickle.loads(pickle.dumps(ours))):
        assert again.sentinel_ids.tolist() == ours.sentinel_ids.tolist()
        assert again.tokenize(TEXT).numpy().tolist() == ours.tokenize(TEXT).numpy().tolist()


@pytest.mark.parametrize(
    "pieces",
    [
        [*SPECIALS, "<extra_id_0>", "<extra_id_1>"],
        [*SPECIALS, "<extra_id_0>", "fox"],
        [*SPECIALS, "<extra_id_2>", "<extra_id_1>"],
        [*SPECIALS, *sentinel_pieces(MOST_SENTINELS + 1)],
    ],
)
def test_sentinels_elsewhere_are_refused(pieces):
    with pytest.raises(ValueError, match="sentinels; expected"):
        WordPieceTokenizer(pieces)


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
@hypothesis.given(
    counts=st.dictionaries(
        st.text("abcdef", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=9
    ),
    sentinels=st.integers(0, 20),
    size=st.integers(26, 60),
)
def test_training_keeps_room_for_sentinels(counts, sentinels, size):
    pieces = train_wordpiece(counts, size, 1, sentinels)
    assert len(pieces) <= size
    assert pieces[len(pieces) - sentinels :] == sentinel_pieces(sentinels)
    assert pieces[: len(pieces) - sentinels] == train_wordpiece(counts, size - sentinels, 1)


def test_training_needs_room():
    with pytest.raises(ValueError, match="16 leaves no room after 16 special"):
        train_wordpiece({"a": 3}, 16, 1, sentinels=11)
