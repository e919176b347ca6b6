"""Models of every kind of tokenizer: what they answer is in the tokenizer's pieces.

Each model is exported with the kind that `signatures_families_test.py` does not export it with. What it
answers with the other kind is asked of its functions. `make test` exports one of them.
"""

import functools
import tempfile

import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_pretraining_model
from firth.recipes import BytePairTokenizerConfig, SentencePieceTokenizerConfig, load_recipe
from firth.serving.samples import sample_row
from firth.serving.saved_model import export
from firth.serving.served import Served
from firth.serving.signatures import text_signatures
from firth.tokenizers import (
    BytePairTokenizer,
    SentencePieceTokenizer,
    count_byte_words,
    count_spaced_words,
    train_byte_pairs,
    train_sentencepiece,
)

ROWS = 320
SENTINELS = 20
TEXTS = ["The cat sat on a mat; it keeps its cats.", "The cat's words and the mats' words."]
EXPORTED = {("bert_tiny", "bpe"), ("gpt2_tiny", "sentencepiece"), ("t5_tiny", "bpe")}
SMALL = ("model.layers=1", "model.width=16", "sequences.length=32")


def tokenizer_of(kind: str):
    if kind == "bpe":
        return BytePairTokenizer(train_byte_pairs(count_byte_words(TEXTS), 300, 1, SENTINELS))
    return SentencePieceTokenizer(train_sentencepiece(count_spaced_words(TEXTS), 80, "unigram", SENTINELS))


def config_of(kind: str):
    made = BytePairTokenizerConfig if kind == "bpe" else SentencePieceTokenizerConfig
    return made(vocabulary_size=ROWS, sentinels=SENTINELS)


@functools.cache
def served(name: str, kind: str) -> Served:
    recipe = load_recipe(name, [*SMALL]).model_copy(update={"tokenizer": config_of(kind)})
    return Served(build_pretraining_model(recipe), tokenizer_of(kind), recipe)


@functools.cache
def loaded(name: str, kind: str):
    made = served(name, kind)
    directory = f"{tempfile.mkdtemp(prefix='firth-tokenizers-')}/model"
    export(made.model, made.tokenizer, made.recipe, np.zeros(ROWS, np.int64), directory)
    return tf.saved_model.load(directory)


def ask(name: str, kind: str, signature: str, **inputs) -> dict:
    given = {key: tf.constant(value) for key, value in inputs.items()}
    if (name, kind) in EXPORTED:
        return loaded(name, kind).signatures[signature](**given)
    made = served(name, kind)
    return text_signatures(made.recipe)[signature].function(made, **given)


kinds = pytest.mark.parametrize("kind", ["bpe", "sentencepiece"])


def kinds_of(name: str):
    """The kinds of tokenizers of a model, of which `make test` asks those that need no export."""
    marks = {kind: [pytest.mark.repeated] * ((name, kind) in EXPORTED) for kind in ("bpe", "sentencepiece")}
    return pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks[kind]) for kind in marks])


def pieces_of(kind: str, text: str) -> list[bytes]:
    tokenizer = tokenizer_of(kind)
    return [tokenizer.id_to_token(id).encode() for id in tokenizer.tokenize(text).numpy()]


@kinds
def test_fill_mask(kind):
    answer = ask("bert_tiny", kind, "fill_mask", text=["The [MASK] sat", "cat"])
    assert answer["mask_count"].numpy().tolist() == [1, 0]
    assert answer["mask_positions"].numpy()[0].tolist() == [len(pieces_of(kind, "The"))]
    vocabulary = set(tokenizer_of(kind).get_vocabulary()[5:-SENTINELS])
    assert {piece.decode() for piece in answer["pieces"].numpy()[0, 0]} <= vocabulary
    np.testing.assert_allclose(answer["scores"].numpy()[1], 0.0)


@kinds_of("gpt2_tiny")
def test_score(kind):
    answer = ask("gpt2_tiny", kind, "score", text=["The cat sat", ""])
    expected = pieces_of(kind, "The cat sat")
    assert answer["pieces"].numpy()[0].tolist() == expected
    assert answer["token_count"].numpy().tolist() == [len(expected), 0]
    sums = answer["log_probabilities"].numpy().sum(axis=1)
    np.testing.assert_allclose(sums, answer["log_probability"].numpy(), rtol=1e-5)


@kinds_of("t5_tiny")
def test_score_of_a_target_with_sentinels(kind):
    texts = {"text": ["The <extra_id_0> sat"], "target": ["<extra_id_0> cat"]}
    answer = ask("t5_tiny", kind, "score", **texts)
    pieces = answer["pieces"].numpy()[0].tolist()
    assert pieces == pieces_of(kind, "<extra_id_0> cat")
    assert b"<extra_id_0>" in pieces


@kinds
def test_embed(kind):
    width = served("bert_tiny", kind).recipe.model.width
    assert ask("bert_tiny", kind, "embed", text=TEXTS)["embedding"].shape == (2, width)


def test_evaluate():
    model, made = loaded("bert_tiny", "bpe"), served("bert_tiny", "bpe")
    rows = [sample_row(made, text.encode(), index) for index, text in enumerate(TEXTS)]
    sums = model.signatures["evaluate"](examples=tf.constant(rows))
    assert (sums["bytes_sum"].numpy() > 0).all()
