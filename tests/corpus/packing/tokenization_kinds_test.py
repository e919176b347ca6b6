"""Each kind of tokenizer, counted and trained in Beam and read by the corpus."""

import json

import numpy as np
import pytest

from firth.corpus import count_corpus_words, train_tokenizer
from firth.corpus.filters.normalize import normalize_text
from firth.corpus.io.records import write_records
from firth.corpus.packing.tokenization import tokenize_documents
from firth.recipes import (
    BytePairTokenizerConfig,
    SentencePieceTokenizerConfig,
    WordPieceTokenizerConfig,
    WordTokenizerConfig,
)
from firth.recipes.corpus.normalization import Normalization
from firth.tokenizers import load_tokenizer
from tests.corpus.helpers import document, make_pipeline, make_pipeline_of_two
from tests.repeating import often

NORMALIZATION = Normalization()
TEXTS = [
    "The whale's way.  It swam on,\n\nand \t on: (far) away! “Where?” asked Ahab. 12 leagues.\n",
    "Call me Ishmael. Some years ago\u00a0-- never mind how long... \u2003The end. ",
    " A whale [MASK] a whale. Zoë, 中文。No?\n \n\tYes.",
]
UNSPACED = "他來了。「好嗎？」好！他們走了。\n走好。"
# As the corpus has them.
TEXTS = [normalize_text(text, NORMALIZATION) for text in TEXTS]
CONFIGS = {
    "bpe": BytePairTokenizerConfig(vocabulary_size=300, min_frequency=1),
    "first_seen": BytePairTokenizerConfig(vocabulary_size=300, min_frequency=1, ties="first_seen"),
    "unigram": SentencePieceTokenizerConfig(vocabulary_size=90),
    "wordpiece": WordPieceTokenizerConfig(vocabulary_size=90, lowercase=False, min_frequency=1),
    "words": WordTokenizerConfig(vocabulary_size=90),
    "sentencepiece_bpe": SentencePieceTokenizerConfig(vocabulary_size=340, model="bpe", byte_fallback=True),
}


@pytest.fixture(scope="module")
def documents():
    return [document(text, name=str(index)) for index, text in enumerate(TEXTS * 3)]


@pytest.fixture(scope="module", params=often(CONFIGS, ("bpe", "unigram", "wordpiece", "words")))
def made(request, tmp_path_factory, documents):
    """The configuration, its word counts and the folder of its tokenizer."""
    folder, config = tmp_path_factory.mktemp(request.param), CONFIGS[request.param]
    for index, part in enumerate((documents[:5], documents[5:])):
        write_records(f"{folder}/train", index, 2, [each.to_example() for each in part])
    counts = count_corpus_words(make_pipeline, f"{folder}/train/*", config, str(folder))
    digest = train_tokenizer(counts, config, f"{folder}/tokenizer", NORMALIZATION.text_steps)
    return config, counts, folder, digest


def test_the_tokenizer_is_as_the_recipe_says(made):
    config, _, folder, digest = made
    tokenizer = load_tokenizer(f"{folder}/tokenizer", expected_digest=digest)
    assert tokenizer.kind == config.kind
    assert 100 * (config.kind == "bpe") < tokenizer.vocabulary_size() <= config.vocabulary_size


def test_served_text_is_read_as_the_corpus_reads_it(made):
    """Training and serving agree: whatever form a text comes in, it has the ids of the corpus's form."""
    tokenizer = load_tokenizer(f"{made[2]}/tokenizer")
    for text in ("  Zoe\u0308 \x00swam\r\naway \n", "\ufeffCall me\x0b Ishmael. ", *TEXTS):
        normalized = normalize_text(text, NORMALIZATION)
        expected = tokenizer.tokenize([normalized]).to_list()
        assert tokenizer.tokenize([text]).to_list() == expected
        assert tokenizer.tokenize([normalized], normalized=True).to_list() == expected
    saved = json.loads((made[2] / "tokenizer/tokenizer.json").read_text())
    assert saved["normalization"] == [list(step) for step in NORMALIZATION.text_steps]


def test_workers_and_order_do_not_matter(made, request):
    config, counts, folder, digest = made
    # All kinds are counted alike, but for one that notes the order.
    if request.node.callspec.params["made"] in ("first_seen", "unigram"):
        assert count_corpus_words(make_pipeline_of_two, f"{folder}/train/*", config, str(folder)) == counts
    shuffled = dict(sorted(counts.items()))
    assert train_tokenizer(shuffled, config, f"{folder}/again", NORMALIZATION.text_steps) == digest


def test_sentences_are_read_as_in_the_whole_text(made, documents):
    config, _, folder, _ = made
    tokenizer = load_tokenizer(f"{folder}/tokenizer")
    read = tokenize_documents(tokenizer, documents)
    for each, found in zip(documents, read):
        tokens, whole = found.tokens.tolist(), tokenizer.tokenize(each.text).numpy().tolist()
        if config == CONFIGS["unigram"] and "..." in each.text:
            # `.` and `..` have one score in either order, and rounding chooses by what is before.
            assert tokenizer.detokenize(tokens) == tokenizer.detokenize(whole)
            tokens, whole = sorted(tokens), sorted(whole)
        assert tokens == whole
        assert found.sentence_starts[0]
        assert not (found.sentence_starts & ~found.word_starts).any()
    assert [each.sentence_starts.sum() for each in read[:3]] == [5, 3, 4]


def test_sentences_without_spaces_between_them_begin_where_they_do(made):
    _, _, folder, _ = made
    tokenizer = load_tokenizer(f"{folder}/tokenizer")
    (found,) = tokenize_documents(tokenizer, [document(UNSPACED)])
    assert found.tokens.tolist() == tokenizer.tokenize(UNSPACED).numpy().tolist()
    assert not (found.sentence_starts & ~found.word_starts).any()
    # What is not in the vocabulary may be one piece for several sentences.
    if tokenizer.unk_id not in found.tokens:
        parts = np.split(found.tokens, np.flatnonzero(found.sentence_starts)[1:])
        texts = ["".join(tokenizer.detokenize(part).numpy().decode().split()) for part in parts]
        assert [text.replace("?", "？").replace("!", "！") for text in texts] == (
            ["他來了。", "「好嗎？」", "好！", "他們走了。", "走好。"]
        )


def test_words_start_after_spaces_and_around_marks(made, documents):
    _, _, folder, _ = made
    tokenizer = load_tokenizer(f"{folder}/tokenizer")
    (found,) = tokenize_documents(tokenizer, [document("The whale (far) away")])
    texts = tokenizer.piece_texts
    words = "".join(
        "|" * bool(start) + texts[id].decode() for id, start in zip(found.tokens, found.word_starts)
    )
    assert words.strip("|").replace(" ", "") == "The|whale|(|far|)|away"
