"""Every kind of model, exported with random weights, answers what its signatures promise."""

import functools
import tempfile

import numpy as np
import pytest
import tensorflow as tf

from firth.corpus import train_tokenizer
from firth.features import evaluation_sums
from firth.models import build_pretraining_model
from firth.recipes import Recipe, load_recipe
from firth.recipes.corpus.normalization import Normalization
from firth.recipes.tokenizers.tokenizer import tokenizer_from_json
from firth.serving.samples import sample_row
from firth.serving.saved_model import export
from firth.serving.served import Served
from firth.serving.signatures import text_signatures
from firth.serving.writing.parameter import WITH_PARAMETERS
from firth.tokenizers import count_byte_words, count_spaced_words, count_words, load_tokenizer

SENTINELS = 20
# Room for 256 bytes.
ROWS_OF_VOCABULARY = 340
TEXTS = ["the cat sat on a mat .", "", "it keeps"]

# A preset for each kind of model and way of asking.
PRESETS = {
    "bert_tiny": ("fill_mask", "embed", "embed_tokens"),
    "electra_tiny": ("embed", "embed_tokens"),
    "deberta_v3_tiny": ("fill_mask", "embed", "embed_tokens"),
    "xlnet_tiny": ("embed", "embed_tokens"),
    "gpt2_tiny": ("score", "generate"),
    "prefix_lm_tiny": ("score", "generate"),
    "t5_tiny": ("score", "embed", "embed_tokens", "generate"),
    "bart_tiny": ("score", "embed", "embed_tokens", "generate"),
    "elmo_tiny": ("embed", "embed_tokens", "generate"),
}
# DeBERTa of the first paper, whose last block decodes masked tokens.
MORE = {
    "deberta_v3_tiny": [
        "objective={kind: masked_lm, next_sentence: false, mask_decoder: {length: 128}}",
        "model.initializer_stddev=0.5",
    ]
}
# What they answer is answered by others too: by the model of `signatures_test.py`, by GPT-2 and T5.
REPEATED = {"bert_tiny", "electra_tiny", "deberta_v3_tiny", "xlnet_tiny", "prefix_lm_tiny", "bart_tiny"}
SMALL = ("model.layers=1", "sequences.length=32", f"tokenizer.vocabulary_size={ROWS_OF_VOCABULARY}")


def cases(names):
    """Returns cases of `PRESETS`, of which `make test` runs those that no other is like."""
    return [pytest.param(name, marks=[pytest.mark.repeated] * (name in REPEATED)) for name in names]


def recipe_of(name: str) -> Recipe:
    recipe = load_recipe(name, MORE.get(name, []))
    more = [*MORE.get(name, [])]
    more += ["model.width=16"] if recipe.model.kind != "bilstm" else ["model.cells=8"]
    if recipe.tokenizer.sentinels:
        more.append(f"tokenizer.sentinels={SENTINELS}")
    if hasattr(recipe.objective, "max_predictions"):
        more.append("objective.max_predictions=4")
    return load_recipe(name, [*SMALL, *more])


@functools.cache
def served(name: str) -> Served:
    recipe = recipe_of(name)
    tokenizer = trained_tokenizer(recipe.tokenizer.to_json())
    return Served(build_pretraining_model(recipe), tokenizer, recipe)


@functools.cache
def trained_tokenizer(config_json: str):
    """A tokenizer of the recipe's kind, trained on the texts."""
    config = tokenizer_from_json(config_json)
    count = {"bpe": count_byte_words, "sentencepiece": count_spaced_words}.get(
        config.kind, lambda texts: count_words(texts, config.lowercase)
    )
    counts = count(TEXTS * 100)
    folder = f"{tempfile.mkdtemp(prefix='firth-families-')}/tokenizer"
    train_tokenizer(counts, config, folder, Normalization().text_steps)
    return load_tokenizer(folder)


@functools.cache
def loaded(name: str):
    made = served(name)
    directory = f"{tempfile.mkdtemp(prefix='firth-families-')}/model"
    counts = np.zeros(ROWS_OF_VOCABULARY, np.int64)
    export(made.model, made.tokenizer, made.recipe, counts, directory)
    return tf.saved_model.load(directory)


def ask(name, signature, texts):
    inputs = text_signatures(served(name).recipe)[signature].inputs
    given = {each: tf.constant(texts, tf.string) for each in inputs}
    return {key: value.numpy() for key, value in loaded(name).signatures[signature](**given).items()}


@pytest.mark.parametrize("name", cases(PRESETS))
def test_signatures(name):
    assert tuple(text_signatures(served(name).recipe)) == PRESETS[name]
    more = {f"{each}{WITH_PARAMETERS}" for each in PRESETS[name] if each == "generate"}
    assert set(loaded(name).signatures) == {*PRESETS[name], *more, "evaluate", "serving_default"}


@pytest.mark.parametrize("name", cases(PRESETS))
def test_a_text_alone_gets_the_answer_that_it_gets_in_a_batch(name):
    for signature in PRESETS[name]:
        together = ask(name, signature, TEXTS)
        for index, text in enumerate(TEXTS):
            alone = ask(name, signature, [text])
            for key, values in alone.items():
                if key in ("pieces",) and signature == "fill_mask":
                    continue
                same = together[key][index : index + 1][tuple(slice(size) for size in values.shape)]
                if values.dtype.kind in "Ob":
                    assert values.tolist() == same.tolist()
                else:
                    np.testing.assert_allclose(values, same, atol=1e-4, err_msg=f"{signature}: {key}")


@pytest.mark.parametrize("name", cases(PRESETS))
def test_a_row_alone_adds_what_it_adds_in_a_batch(name):
    rows = [sample_row(served(name), text.encode() * 2, index) for index, text in enumerate(TEXTS[::2])]
    evaluate = loaded(name).signatures["evaluate"]
    together = evaluate(examples=tf.constant(rows))
    assert set(together) == set(evaluation_sums(served(name).recipe.goal.loss_classes))
    main = served(name).recipe.objective.main_loss
    assert (together[f"{main}_weight_sum"].numpy() > 0).all()
    assert (together["bytes_sum"].numpy() > 0).all()
    for index, row in enumerate(rows):
        alone = evaluate(examples=tf.constant([row]))
        for key, value in alone.items():
            if not key.endswith("correct_sum"):
                np.testing.assert_allclose(value[0], together[key][index], rtol=1e-4, err_msg=key)


@pytest.mark.repeated
def test_masks_are_filled_by_the_mask_decoder():
    made, text = served("deberta_v3_tiny"), "the [MASK] sat on a [MASK]"
    features = made.encode(tf.constant([text])).features
    places = np.flatnonzero(features["token_ids"][0].numpy() == made.tokenizer.mask_id)[None].astype("int32")
    row = {
        **features,
        "masked_positions": places,
        "masked_labels": np.zeros_like(places),
        "masked_weights": np.ones_like(places, "float32"),
    }
    logits = made.model.logits(row)["mlm"]
    # What training minimises, of the first piece of the vocabulary.
    losses = made.model(row)["mlm"].losses.numpy()
    np.testing.assert_allclose(losses, -tf.nn.log_softmax(logits)[..., 0], rtol=1e-4)
    likely = tf.nn.softmax(tf.where(made.proposable(), logits, logits.dtype.min)).numpy()
    found = ask("deberta_v3_tiny", "fill_mask", [text])["scores"][0]
    np.testing.assert_allclose(found, -np.sort(-likely[0])[:, : found.shape[1]], rtol=1e-3)
    plain = made.model.heads.masked_lm_head(
        made.model.backbone(features), places, made.model.backbone.token_embedding.table
    )
    assert np.abs(plain - logits).max() > 0.1


def test_score_is_the_sum_of_the_pieces_log_probabilities():
    answer = ask("gpt2_tiny", "score", ["the cat sat"])
    assert answer["pieces"].tolist() == [[b"the", "Ġcat".encode(), "Ġsat".encode()]]
    np.testing.assert_allclose(answer["log_probabilities"].sum(), answer["log_probability"][0], rtol=1e-5)
    # An untrained model knows next to nothing.
    np.testing.assert_allclose(answer["log_probabilities"], -np.log(ROWS_OF_VOCABULARY), atol=0.5)
    first = ask("gpt2_tiny", "score", ["the"])
    np.testing.assert_allclose(first["log_probabilities"][0, 0], answer["log_probabilities"][0, 0], rtol=1e-4)


@pytest.mark.parametrize("name", cases(["prefix_lm_tiny", "t5_tiny", "bart_tiny"]))
def test_score_of_a_target_depends_on_the_text_before_it(name):
    score = loaded(name).signatures["score"]
    one, other = (
        score(text=tf.constant([text]), target=tf.constant(["sat on"]))["log_probabilities"].numpy()
        for text in ("the cat", "it keeps a mat")
    )
    target = served(name).tokenizer.tokenize("sat on")
    assert one.shape == other.shape == (1, len(target))
    assert not np.allclose(one, other, atol=1e-7)


def test_elmo_gives_its_layers_and_reads_any_word():
    answer = ask("elmo_tiny", "embed_tokens", ["the zyzzyva"])
    layers = served("elmo_tiny").recipe.model.layers + 1
    assert answer["layers"].shape == (1, 2, layers, served("elmo_tiny").model.backbone.width)
    np.testing.assert_allclose(answer["layers"].mean(axis=2), answer["embeddings"], atol=1e-6)
    others = ask("elmo_tiny", "embed_tokens", ["the qwerty"])
    assert not np.allclose(answer["layers"][0, 1, 0], others["layers"][0, 1, 0])


def test_xlnet_reads_a_text_as_it_was_trained_to():
    features = served("xlnet_tiny").encode(tf.constant(["the cat", ""])).features
    pieces = len(served("xlnet_tiny").tokenizer.tokenize("the cat"))
    nothing = [0] * pieces
    # The pieces, [SEP], and [CLS] in a segment of its own.
    assert features["segment_ids"].numpy().tolist() == [[*nothing, 0, 2], [0, 2, *nothing]]
    assert features["document_ids"].numpy().tolist() == [[1] * (pieces + 2), [1, 1, *nothing]]
