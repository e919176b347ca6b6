import copy
import itertools
import pickle

import cloudpickle
import hypothesis
import keras_hub
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st

from firth.tokenizers import WordPieceTokenizer
from tests.repeating import often
from tests.tokenizers.golden.hard_strings import SPECIALS, STRINGS, VOCABULARY
from tests.tokenizers.reference import Reference

PLAIN = st.lists(st.sampled_from(["the", "fox", "quick", "foxes", "."]), max_size=8).map(" ".join)
TEXT = "The quick, quick FOXES."
IDS = [5, 6, 7, 1, 6, 7, 8, 9, 10]
TYPED, TYPED_IDS = "The quick [MASK], quick FOXES.", [5, 6, 7, 4, 1, 6, 7, 8, 9, 10]
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


def test_a_literal_example(small):
    assert small.tokenize([TEXT, ""]).to_list() == [IDS, []]
    assert small.tokenize([TYPED, ""], specials=["[MASK]"]).to_list() == [TYPED_IDS, []]
    assert small.detokenize([TYPED_IDS])[0] == b"the quick [MASK] [UNK] quick foxes ."


def test_shapes_and_dtypes(small):
    batch = small.tokenize(["a", "b c"])
    assert isinstance(batch, tf.RaggedTensor)
    assert (batch.dtype, batch.shape.as_list()) == (tf.int32, [2, None])
    single = small.tokenize("the fox")
    assert (single.dtype, single.shape.as_list()) == (tf.int32, [2])
    assert small.tokenize([]).to_list() == []
    assert small.tokenize(np.array(["fox"])).to_list() == small(["fox"]).to_list() == [[8]]
    assert small.tokenize(np.array(["fox", b"the"], object)).to_list() == [[8], [5]]


def test_it_is_a_keras_hub_tokenizer(small):
    assert isinstance(small, keras_hub.tokenizers.Tokenizer)
    assert small("the fox").numpy().tolist() == [5, 8]
    assert sorted(small.special_tokens) == sorted(SPECIALS)
    assert sorted(small.special_token_ids) == [0, 1, 2, 3, 4]
    assert WordPieceTokenizer.from_config(small.get_config()).digest == small.digest


def test_vocabulary(small):
    assert (small.pad_id, small.unk_id, small.cls_id, small.sep_id, small.mask_id) == small.special_ids
    assert small.vocabulary_size() == len(small.get_vocabulary()) == 11
    assert small.id_to_token(small.token_to_id("##ick")) == "##ick"
    assert small.word_start_table.tolist() == [True] * 7 + [False, True, False, True]
    with pytest.raises(ValueError, match="nearest piece is 'fox'"):
        small.token_to_id("foxx")
    for index in (-1, 11):
        with pytest.raises(ValueError, match="0 to 10"):
            small.id_to_token(index)


def test_special_pieces_are_found_by_name():
    tokenizer = WordPieceTokenizer(["fox", *reversed(SPECIALS)])
    assert tokenizer.special_ids == (5, 4, 3, 2, 1)
    assert tokenizer.tokenize("fox[MASK]cat[PAD]", specials=["[PAD]", "[MASK]"]).numpy().tolist() == [
        0,
        1,
        4,
        5,
    ]


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (SPECIALS[:-1], r"no \[MASK\]"),
        ([*SPECIALS, "a", "a"], "piece 6 .* as is piece 5"),
        ([*SPECIALS, ""], "piece 5"),
        ([*SPECIALS, "a\nb"], "piece 5"),
    ],
)
def test_a_bad_vocabulary_is_refused(pieces, message):
    with pytest.raises(ValueError, match=message):
        WordPieceTokenizer(pieces)


def test_bad_input_is_refused(small):
    with pytest.raises(TypeError, match="int32"):
        small.tokenize(tf.constant([1]))
    with pytest.raises(ValueError, match="shape"):
        small.tokenize([["a"], ["b"]])
    with pytest.raises(ValueError, match="max_word_characters"):
        WordPieceTokenizer(SPECIALS, max_word_characters=7)
    with pytest.raises(tf.errors.InvalidArgumentError):
        small.detokenize([[99]])


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([], b""),
        ([0, 0], b""),
        ([5, 0, 8, 0, 9, 0], b"the foxes"),
        ([7, 9], b"ickes"),
        ([2, 8, 3, 4, 0], b"[CLS] fox [SEP] [MASK]"),
    ],
)
def test_detokenize(small, ids, text):
    assert small.detokenize(tf.constant(ids, tf.int32)) == text
    assert small.detokenize([ids, [5]]).numpy().tolist() == [text, b"the"]
    assert small.detokenize(tf.ragged.constant([ids], tf.int64, ragged_rank=1)).numpy().tolist() == [text]
    assert small.detokenize(np.array([ids], np.int32)).numpy().tolist() == [text]


@hypothesis.settings(max_examples=20, deadline=None, derandomize=True)
@hypothesis.given(texts=st.lists(PLAIN, min_size=1, max_size=5))
def test_plain_text_makes_the_round_trip(small, texts):
    joined = [text.decode() for text in small.detokenize(small.tokenize(texts)).numpy()]
    assert joined == texts


@pytest.mark.parametrize("lowercase", [True, False])
def test_ids_make_the_round_trip(both, lowercase):
    tokenizer = both[lowercase][0]
    ids = tokenizer.tokenize(STRINGS)
    expected = [[i for i in row if i != tokenizer.pad_id] for row in ids.to_list()]
    # Unknown text is written by the name of its piece.
    assert tokenizer.tokenize(tokenizer.detokenize(ids), specials=["[UNK]"]).to_list() == expected


@hypothesis.settings(max_examples=15, deadline=None, derandomize=True)
@hypothesis.given(texts=st.lists(st.text(max_size=20) | st.sampled_from(STRINGS), min_size=2, max_size=6))
def test_a_batch_of_one_equals_a_batch_of_many(both, texts):
    tokenizer = both[True][0]
    rows = tokenizer.tokenize(texts).to_list()
    assert rows[::2] == [tokenizer.tokenize([text]).to_list()[0] for text in texts[::2]]
    assert rows[1::2] == [tokenizer.tokenize(text).numpy().tolist() for text in texts[1::2]]
    assert all(0 <= i < tokenizer.vocabulary_size() for row in rows for i in row)


@pytest.mark.repeated
def test_in_tf_function(small):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def there_and_back(texts):
        ids = small.tokenize(texts)
        return ids, small.detokenize(ids)

    ids, texts = there_and_back(tf.constant([TEXT, "", "Foxes."]))
    assert ids.to_list() == [IDS, [], small.tokenize("Foxes.").numpy().tolist()]
    assert texts.numpy().tolist()[1:] == [b"", b"foxes ."]
    assert there_and_back(tf.constant([], tf.string))[0].to_list() == []


def test_in_tf_data(small):
    texts = tf.data.Dataset.from_tensor_slices([TEXT, "fox", ""])
    # Each text alone; `test_in_tf_function` has a batch.
    assert [row.tolist() for row in texts.map(small.tokenize).as_numpy_iterator()] == [IDS, [8], []]


@pytest.mark.parametrize("ship", [pickle, cloudpickle])
def test_pickling(ship):
    tokenizer = WordPieceTokenizer([*SPECIALS, "É", "##x"], lowercase=False, max_word_characters=50)
    copied = ship.loads(ship.dumps(tokenizer))
    assert copied.digest == tokenizer.digest
    assert copied.tokenize(["É Éx é"]).to_list() == tokenizer.tokenize(["É Éx é"]).to_list() == [[5, 5, 6, 1]]
    shipped = ship.loads(ship.dumps(tokenizer.tokenize))
    assert shipped("É").numpy().tolist() == [5]
    assert copy.deepcopy(tokenizer).digest == tokenizer.digest


def test_in_beam(small):
    beam = pytest.importorskip("apache_beam")
    from apache_beam.testing.util import assert_that, equal_to

    def encode(text, tokenizer):
        return tokenizer.tokenize(text).numpy().tolist()

    with beam.Pipeline(runner="DirectRunner") as pipeline:
        ids = pipeline | beam.Create([TEXT, "fox"]) | beam.Map(encode, tokenizer=small)
        assert_that(ids, equal_to([IDS, [8]]))


def test_digest_depends_on_vocabulary_and_settings(small):
    pieces = small.get_vocabulary()
    digests = {
        small.digest,
        WordPieceTokenizer(pieces, lowercase=False).digest,
        WordPieceTokenizer(pieces, max_word_characters=99).digest,
        WordPieceTokenizer([*pieces[:-2], pieces[-1], pieces[-2]]).digest,
    }
    assert len(digests) == 4
    assert WordPieceTokenizer(pieces).digest == small.digest


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
@hypothesis.given(parts=st.lists(st.lists(PARTS, max_size=8).map("".join), min_size=1, max_size=8))
def test_made_up_text_equals_the_reference(both, parts):
    for ours, reference in both.values():
        assert ours.tokenize(parts).to_list() == reference(parts)


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
@hypothesis.given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_any_text_equals_the_reference(both, texts):
    for ours, reference in both.values():
        assert ours.tokenize(texts).to_list() == reference(texts)


LETTERS, LIMITS = ["a", "я", "中", "ก", "😀", "\U0002b820"], [8, 9, 100]


@pytest.mark.parametrize(
    ("letter", "limit"),
    often(itertools.product(LETTERS, LIMITS), [*zip(LETTERS, 2 * LIMITS)]),
)
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


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
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
