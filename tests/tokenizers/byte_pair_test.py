import itertools
import json
import os

import hypothesis
import pytest
import tensorflow as tf
import tokenizers
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

from firth.tokenizers import BytePairTokenizer, count_byte_words, train_byte_pairs
from firth.tokenizers.graph.byte_pair_kernel import BytePairKernel, WordSplitter
from firth.tokenizers.graph.byte_pieces import byte_pieces, to_bytes
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from tests.shared_data import shared_data
from tests.tokenizers.golden.hard_strings import STRINGS

# Where GPT-2's pattern is intricate: spaces before words, marks and ends, contractions, bytes.
INTRICATE = [
    "  's  're 'S don't we'll I've 123abc !!!...x",
    *("a  \n\n b", "\t\tx \t y  ", "   ", "a\u3000\u3000b", " \u00a0x\x00y", "\x00", "", "x\u00a0\n"),
    "foo<|endoftext|> bar  <|endoftext|>",
    "\U0010ffff\U0010fffe\ue000\u0100\u0101 ½ Ⅷ ٣ 日本語テキスト　です",
]
SAMPLE = [
    "Every word's neighbours tell what it means, so count them: 1, 2, 3 ... 4,096 of them!",
    "    def neighbours(words):\n        return [pair for pair in zip(words, words[1:])]\n",
    "Größe, façade, naïveté; Ελληνικά, русский, 한국어, 中文。",
]


def reference(vocabulary: list[str], merges: list[tuple[str, str]], specials: list[str]):
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    made = tokenizers.Tokenizer(models.BPE(ids, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens(
        [tokenizers.AddedToken(each, normalized=False, special=True) for each in specials]
    )
    return lambda texts: [row.ids for row in made.encode_batch_fast(texts, add_special_tokens=False)]


def merges_of(vocabulary: list[str]) -> list[tuple[str, str]]:
    """Returns how each piece is made: as its bytes are encoded by the pieces before it."""
    rank = {piece: index for index, piece in enumerate(vocabulary)}
    merges = []
    for piece in vocabulary[len(SPECIAL_PIECES) + 256 :]:
        parts = list(piece)
        while len(parts) > 2:
            pairs = [
                (rank.get(a + b, 10**9), place) for place, (a, b) in enumerate(itertools.pairwise(parts))
            ]
            place = min(pairs)[1]
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        merges.append((parts[0], parts[1]))
    return merges


@pytest.fixture(scope="module")
def trained():
    """A small tokenizer, and the reference with the same merges."""
    vocabulary = train_byte_pairs(count_byte_words([*SAMPLE, *STRINGS]), 800, 1)
    return BytePairTokenizer(vocabulary), reference(
        vocabulary, merges_of(vocabulary), list(SPECIAL_PIECES[:4])
    )


@pytest.fixture(scope="module")
def gpt2():
    """GPT-2's own vocabulary in our kernel, and in the reference."""
    folder = shared_data("golden/gpt2")
    ids = json.loads((folder / "encoder.json").read_text())
    lines = (folder / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:]
    merges = [tuple(line.split()) for line in lines if line]
    vocabulary = sorted(ids, key=ids.get)
    kernel = BytePairKernel(vocabulary, ["<|endoftext|>"])
    signature = [tf.TensorSpec([None], tf.string)]
    graph = tf.function(lambda text: kernel(text, asked=["<|endoftext|>"]), signature, autograph=False)
    return graph, reference(vocabulary, merges, ["<|endoftext|>"])


def test_a_literal_example():
    tokenizer = BytePairTokenizer([*SPECIAL_PIECES, *byte_pieces(), "he", "in", "Ġt", "Ġthe", "the"])
    pieces = [tokenizer.id_to_token(id) for id in tokenizer.tokenize("the tin  then").numpy()]
    assert pieces == ["the", "Ġt", "in", "Ġ", "Ġthe", "n"]


def test_ids_equal_the_reference_s(trained):
    ours, theirs = trained
    texts = [text for text in (*STRINGS, *INTRICATE, *SAMPLE) if "[MASK]" not in text]
    assert ours.tokenize(texts, specials=SPECIAL_PIECES).to_list() == theirs(texts)


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
@hypothesis.given(
    text=st.text(st.one_of(st.sampled_from("ab'stm 1½.\n\t\u00a0\u3000é中"), st.characters(codec="utf-8")))
)
def test_any_text_equals_the_reference_s(trained, text):
    ours, theirs = trained
    assert ours.tokenize([text]).to_list() == theirs([text])


@hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
@hypothesis.given(data=st.binary(max_size=60))
def test_any_bytes_come_back(trained, data):
    tokenizer = trained[0]
    assert tokenizer.detokenize(tokenizer.tokenize([data])).numpy().tolist() == [data]


def test_each_byte_and_all_of_them_come_back(trained):
    tokenizer = trained[0]
    data = [*(bytes([byte]) for byte in range(256)), bytes(range(256)), b"\xff\xfe a\xe9b  \xc3"]
    assert tokenizer.detokenize(tokenizer.tokenize(data)).numpy().tolist() == data
    assert tokenizer.tokenize([b"\xff"]).to_list() == [[tokenizer.token_to_id("ÿ")]]


def test_every_character_is_split_as_the_reference_splits_it():
    """Each between a letter, a digit and a mark; a tenth of all characters, another tenth each day."""
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000][::193]
    texts = [f"a{chr(point)}1{chr(point)}!{chr(point)} {chr(point)}" for point in points]
    words = WordSplitter()(tf.constant(texts)).to_list()
    for text, found in zip(texts, words):
        bounds = [word.decode().encode("latin-1") for word in found if word]
        expected = [to_bytes(piece) for piece, _ in splitter.pre_tokenize_str(text)]
        assert bounds == expected, ascii(text)


@pytest.mark.repeated
@pytest.mark.needs_data("golden/gpt2", twin="test_ids_equal_the_reference_s")
def test_gpt2_on_hard_strings(gpt2):
    ours, theirs = gpt2
    texts = [*STRINGS, *INTRICATE, *SAMPLE]
    assert ours(texts).to_list() == theirs(texts)


LINES = ("tinyshakespeare/input.txt", "golden/sentencepiece/botchan.txt")


@pytest.mark.repeated
@pytest.mark.needs_data("golden/gpt2", *LINES, twin="test_ids_equal_the_reference_s")
def test_gpt2_on_ten_thousand_lines(gpt2):
    paths = [shared_data(name) for name in LINES]
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").split("\n")][-10_000:]
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    ours, theirs = gpt2
    assert len(lines) == 10_000
    assert ours(lines).to_list() == theirs(lines)


def test_a_byte_without_a_piece_is_an_error():
    with pytest.raises(ValueError, match="no 'Ġ'; it needs a piece for each byte"):
        BytePairTokenizer([*SPECIAL_PIECES, *(piece for piece in byte_pieces() if piece != "Ġ")])
    with pytest.raises(ValueError, match="is not the character of a byte"):
        BytePairTokenizer([*SPECIAL_PIECES, *byte_pieces(), "▁the"])


def test_whole_words_that_no_merges_make():
    pieces = [*SPECIAL_PIECES, *byte_pieces(), "ab", "xyz", "Ġxy"]
    read = lambda text, **said: BytePairTokenizer(pieces, **said)(text).numpy().tolist()  # noqa: E731
    ids = {piece: place for place, piece in enumerate(pieces)}
    assert read("xyz ab", whole_words=True)[0] == ids["xyz"]
    assert read("xyz") == [ids[each] for each in "xyz"]
    # A part of a word is not a word.
    assert read("xyzab", whole_words=True) == [*(ids[each] for each in "xyz"), ids["ab"]]
    with pytest.raises(ValueError, match="pattern: 'gpt4' is not one of gpt2, llama3"):
        BytePairTokenizer(pieces, pattern="gpt4")
    digests = {
        BytePairTokenizer(pieces, **said).digest
        for said in ({}, {"pattern": "llama3"}, {"whole_words": True})
    }
    assert len(digests) == 3
