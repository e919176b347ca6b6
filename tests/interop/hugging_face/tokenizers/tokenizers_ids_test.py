"""Ids equal those of the `tokenizers` package: read from its files, and written for it."""

import functools
import json
import os
import pathlib
import random

import pytest
import tokenizers

from firth.interop.hugging_face.tokenizers import read_tokenizer, write_tokenizer
from firth.recipes.corpus.normalization import Normalization
from firth.tokenizers import (
    BytePairTokenizer,
    WordPieceTokenizer,
    count_byte_words,
    count_words,
    train_byte_pairs,
    train_wordpiece,
)
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES, SpecialPieces
from tests.interop.hugging_face.tokenizers import trained
from tests.interop.hugging_face.tokenizers.lines import SAMPLE, hostile_lines
from tests.repeating import often

os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Each with the special pieces that are typed in its lines, and the family that frames its texts.
READ = {
    "gpt2": (trained.gpt2, [trained.END], "gpt2"),
    "llama3": (trained.llama3, trained.LLAMA_3, "llama"),
    "roberta": (trained.roberta, trained.ROBERTA, "roberta"),
    "bert_uncased": (trained.bert, trained.BERT, "bert"),
    "bert_cased": (functools.partial(trained.bert, lowercase=False), trained.BERT, "bert"),
}
FEW = ["llama3", "roberta", "bert_cased"]
SENTINELS = ["<extra_id_1>", "<extra_id_0>"]
STEPS = Normalization(whitespace="collapse").text_steps
NFKC = Normalization(form="NFKC").text_steps


def own_byte_pairs(steps=()):
    return BytePairTokenizer(train_byte_pairs(count_byte_words([SAMPLE]), 700, 1, sentinels=2), steps)


def own_word_pieces(steps=()):
    pieces = train_wordpiece(count_words([SAMPLE], lowercase=True), 500, 1, sentinels=2)
    return WordPieceTokenizer(pieces, normalization=steps)


OWN = {
    "bpe": own_byte_pairs,
    "bpe_normalized": lambda: own_byte_pairs(STEPS),
    "bpe_nfkc": lambda: own_byte_pairs(NFKC),
    "wordpiece": own_word_pieces,
    "wordpiece_normalized": lambda: own_word_pieces(STEPS),
}


@functools.cache
def published(name):
    return READ[name][0]()


def test_lines_are_hostile():
    lines = hostile_lines(2_000, SPECIAL_PIECES)
    text = "".join(lines)
    for each in ("[MASK]", "\u200d", "\u202e", "\x00", "e\u0301", "\u3000", "中", "a" * 120, "\U0010ffff"):
        assert each in text, ascii(each)


@pytest.mark.parametrize("name", often(READ, FEW))
def test_ids_of_what_is_read(name, tmp_path):
    theirs = published(name)
    theirs.save(str(tmp_path / "tokenizer.json"))
    lines = hostile_lines(2_000, READ[name][1])
    ours = read_tokenizer(tmp_path)
    assert ours.tokenize(lines).to_list() == trained.ids_of(theirs, lines, splits=True)
    assert trained.named_ids(ours, lines) == trained.ids_of(theirs, lines)


def test_words_of_llama3(tmp_path):
    """Endings, numbers, symbols, spaces and ends of lines, in any order."""
    parts = ["'", *"sSſtmD", "ll", "rE", "1", "23", "4567", "½", "Ⅷ", "!", "..", "(", "é", "e\u0301", "中"]
    parts += [" ", "  ", "\n", "\r", "\r\n", "\t", "\u3000", "\u2028", "\x85", "\x1c", "\x00"]
    parts += [*trained.LLAMA_3, "zzzq", "quickbrown"]
    choose = random.Random(0)
    lines = ["".join(choose.choices(parts, k=choose.randrange(1, 14))) for _ in range(2_500)]
    theirs = published("llama3")
    theirs.save(str(tmp_path / "tokenizer.json"))
    ours = read_tokenizer(tmp_path)
    assert trained.named_ids(ours, lines) == trained.ids_of(theirs, lines)
    assert ours.whole_words and ours.tokenize("zzzq").shape == [1]


@pytest.mark.parametrize("name", ["gpt2", "roberta"])
def test_ids_of_the_older_files(name, tmp_path):
    theirs = published(name)
    content = json.loads(theirs.to_str())
    ids = theirs.get_vocab(with_added_tokens=True)
    (tmp_path / "vocab.json").write_text(json.dumps(ids))
    merges = "".join(f"{' '.join(each)}\n" for each in content["model"]["merges"])
    (tmp_path / "merges.txt").write_text(f"#version: 0.2\n{merges}")
    lines = hostile_lines(1_000, READ[name][1], seed=1)
    assert trained.named_ids(read_tokenizer(tmp_path), lines) == trained.ids_of(theirs, lines)


@pytest.mark.parametrize("name", often(READ, FEW))
def test_read_written_and_read_again(name, tmp_path):
    theirs, (_, specials, family) = published(name), READ[name]
    theirs.save(str(tmp_path / "tokenizer.json"))
    first, again = read_tokenizer(tmp_path), tmp_path / "again"
    again.mkdir()
    write_tokenizer(first, again, family, 512)
    assert read_tokenizer(again).digest == first.digest
    written = tokenizers.Tokenizer.from_file(str(again / "tokenizer.json"))
    lines = hostile_lines(1_000, specials, seed=2)
    assert trained.ids_of(written, lines, framed=True) == trained.ids_of(theirs, lines, framed=True)
    pairs = list(zip(lines[:50], lines[50:100]))
    for one, other in zip(written.encode_batch(pairs), theirs.encode_batch(pairs)):
        assert one.ids == other.ids
    if name.startswith("bert"):
        pair = written.encode("the fox", "the dog")
        assert pair.type_ids == theirs.encode("the fox", "the dog").type_ids


@pytest.mark.parametrize("name", often(OWN, ["bpe_nfkc", "wordpiece_normalized"]))
def test_our_own_are_written(name, tmp_path):
    ours = OWN[name]()
    write_tokenizer(ours, tmp_path, "bert")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    lines = hostile_lines(2_500, [*SPECIAL_PIECES, *SENTINELS], seed=3)
    ids = trained.named_ids(ours, lines)
    assert trained.ids_of(theirs, lines) == ids
    if name.startswith("wordpiece"):
        # The file of our BPE takes the space before a mask away, whether or not the mask is split.
        assert trained.ids_of(theirs, lines, splits=True) == ours.tokenize(lines).to_list()
    assert trained.ids_of(theirs, lines[:9], framed=True) == [[2, *row, 3] for row in ids[:9]]
    again = read_tokenizer(tmp_path)
    assert (again.digest, again.settings) == (ours.digest, ours.settings)


@pytest.mark.needs_data("tokenizer.json", variable="FIRTH_MINILM", twin="test_ids_of_what_is_read")
def test_a_real_tokenizer(tmp_path):
    place = os.environ["FIRTH_MINILM"]
    ours = read_tokenizer(place)
    theirs = tokenizers.Tokenizer.from_file(str(pathlib.Path(place, "tokenizer.json")))
    theirs.no_truncation()
    theirs.no_padding()
    lines = hostile_lines(10_000, SPECIAL_PIECES)
    assert trained.named_ids(ours, lines) == trained.ids_of(theirs, lines)
    assert ours.specials == SpecialPieces()
    write_tokenizer(ours, tmp_path, "bert", 512)
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert trained.ids_of(written, lines, framed=True) == trained.ids_of(theirs, lines, framed=True)
