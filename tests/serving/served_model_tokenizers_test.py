"""Models of every kind of tokenizer: what they answer is in the tokenizer's pieces.

They are asked op by op; a repeated test exports one with a tokenizer of bytes.
"""

import functools

import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_pretraining_model
from firth.recipes import BytePairTokenizerConfig, SentencePieceTokenizerConfig, load_recipe
from firth.serving.saved_model import export
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.slots.loaded import Loaded
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
# What a recipe asks for, so that texts with spans can be scored.
ASKED = ["<extra_id_0>"]
TEXTS = ["The cat sat on a mat; it keeps its cats.", "The cat's words and the mats' words."]
SMALL = ("model.layers=1", "model.width=16", "sequences.length=32")


@functools.cache
def tokenizer_of(kind: str):
    if kind == "bpe":
        pieces = train_byte_pairs(count_byte_words(TEXTS), 300, 1, SENTINELS)
        return BytePairTokenizer(pieces, special_texts=ASKED)
    model = train_sentencepiece(count_spaced_words(TEXTS), 80, "unigram", SENTINELS)
    return SentencePieceTokenizer(model, special_texts=ASKED)


def config_of(kind: str):
    made = BytePairTokenizerConfig if kind == "bpe" else SentencePieceTokenizerConfig
    return made(vocabulary_size=ROWS, sentinels=SENTINELS, special_texts=tuple(ASKED))


@functools.cache
def served(name: str, kind: str) -> Served:
    recipe = load_recipe(name, [*SMALL]).model_copy(update={"tokenizer": config_of(kind)})
    return Served(build_pretraining_model(recipe), tokenizer_of(kind), recipe)


def ask(name: str, kind: str, signature: str, **inputs) -> dict:
    made = served(name, kind)
    given = {key: tf.constant(value) for key, value in inputs.items()}
    return text_signatures(made.recipe)[signature].function(made, **given)


kinds = pytest.mark.parametrize("kind", ["bpe", "sentencepiece"])


def pieces_of(kind: str, text: str) -> list[bytes]:
    tokenizer = tokenizer_of(kind)
    return [tokenizer.id_to_token(id).encode() for id in tokenizer.tokenize(text).numpy()]


FILLED = {"text": ["The [MASK] sat", "cat"]}


@kinds
def test_fill_mask(kind):
    check_filled(
        kind, {key: each.numpy() for key, each in ask("bert_tiny", kind, "fill_mask", **FILLED).items()}
    )


def check_filled(kind, answer):
    assert answer["mask_count"].tolist() == [1, 0]
    assert answer["mask_positions"][0].tolist() == [len(pieces_of(kind, "The"))]
    vocabulary = set(tokenizer_of(kind).get_vocabulary()[5:-SENTINELS])
    assert {piece.decode() for piece in answer["pieces"][0, 0]} <= vocabulary
    np.testing.assert_allclose(answer["scores"][1], 0.0)


@pytest.mark.repeated
def test_fill_mask_in_an_export(tmp_path, monkeypatch):
    made = served("bert_tiny", "bpe")
    offered = {"fill_mask": text_signatures(made.recipe)["fill_mask"]}
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: offered)
    export(made.model, made.tokenizer, made.recipe, None, str(tmp_path / "model"))
    texts = [each.encode() for each in FILLED["text"]]
    check_filled("bpe", Loaded(str(tmp_path / "model")).run("fill_mask", {"text": texts}))


@kinds
def test_score(kind):
    answer = ask("gpt2_tiny", kind, "score", text=["The cat sat", ""])
    expected = pieces_of(kind, "The cat sat")
    assert answer["pieces"].numpy()[0].tolist() == expected
    assert answer["token_count"].numpy().tolist() == [len(expected), 0]
    sums = answer["log_probabilities"].numpy().sum(axis=1)
    np.testing.assert_allclose(sums, answer["log_probability"].numpy(), rtol=1e-5)


@kinds
def test_score_of_a_target_with_sentinels(kind):
    texts = {"text": ["The <extra_id_0> sat"], "target": ["<extra_id_0> cat<extra_id_1>"]}
    answer = ask("t5_tiny", kind, "score", **texts)
    pieces = answer["pieces"].numpy()[0].tolist()
    assert pieces == pieces_of(kind, "<extra_id_0> cat<extra_id_1>")
    assert b"<extra_id_0>" in pieces and b"<extra_id_1>" not in pieces


@kinds
def test_embed(kind):
    width = served("bert_tiny", kind).recipe.model.width
    assert ask("bert_tiny", kind, "embed", text=TEXTS)["embedding"].shape == (2, width)
