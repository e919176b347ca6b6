"""Every kind of model, with random weights, answers what its signatures promise, exported too."""

import functools
import tempfile
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from firth.corpus import train_tokenizer
from firth.features import evaluation_sums
from firth.models import build_pretraining_model
from firth.recipes import Recipe, load_recipe
from firth.recipes.corpus.normalization import Normalization
from firth.recipes.tokenizers.tokenizer import tokenizer_from_json
from firth.serving.evaluate import evaluator, unigram_log_probabilities
from firth.serving.fill_mask import fill_mask
from firth.serving.parameter import WITH_PARAMETERS
from firth.serving.saved_model import export
from firth.serving.score import score_target
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.slots.loaded import Loaded
from firth.serving.warmup import sample_row
from firth.tokenizers import count_byte_words, count_spaced_words, count_words, load_tokenizer
from tests.generation.cases import eagerly
from tests.repeating import often

SENTINELS = 20
# Room for 256 bytes.
ROWS_OF_VOCABULARY = 340
COUNTS = np.zeros(ROWS_OF_VOCABULARY, np.int64)
TEXTS = ["the cat sat on a mat .", "", "it keeps"]

# A preset for each kind of model and way of asking.
PRESETS = {
    "bert_tiny": ("fill_mask", "embed", "embed_tokens", "attention"),
    "electra_tiny": ("embed", "embed_tokens", "attention"),
    "deberta_v3_tiny": ("fill_mask", "embed", "embed_tokens", "attention"),
    "xlnet_tiny": ("embed", "embed_tokens"),
    "gpt2_tiny": ("score", "generate", "attention"),
    "prefix_lm_tiny": ("score", "generate", "attention"),
    "t5_tiny": ("score", "embed", "embed_tokens", "generate", "attention"),
    "bart_tiny": ("score", "embed", "embed_tokens", "generate", "attention"),
    "elmo_tiny": ("embed", "embed_tokens", "generate"),
}
# DeBERTa of the first paper, whose last block decodes masked tokens.
MORE = {
    "deberta_v3_tiny": [
        "objective={kind: masked_lm, next_sentence: false, mask_decoder: {length: 128}}",
        "model.initializer_stddev=0.5",
    ]
}
# Tracing a graph takes seconds, so that `make test` exports none of these. Others that it exports: a masked
# model in `tests/exported_model.py`, a causal one in `tests/serving/slots/models.py`.
EXPORTED = [("t5_tiny", ("score", "attention"))]
MORE_EXPORTED = [
    (name, (*PRESETS[name], "evaluate"))
    for name in ("t5_tiny", "deberta_v3_tiny", "xlnet_tiny", "gpt2_tiny", "elmo_tiny")
]
SMALL = ("model.layers=1", "sequences.length=16", f"tokenizer.vocabulary_size={ROWS_OF_VOCABULARY}")


def recipe_of(name: str) -> Recipe:
    recipe = load_recipe(name, MORE.get(name, []))
    more = [*MORE.get(name, [])]
    more += ["model.width=16"] if recipe.model.kind != "bilstm" else ["model.cells=8"]
    if recipe.model.gives_attention:
        more.append("export.attention=true")
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


def asked(name, signature, texts):
    """Returns the answers of a signature to texts, op by op."""
    described = text_signatures(served(name).recipe, served(name).tokenizer.mask_token)[signature]
    given = [tf.constant([text + described.needs for text in texts])] * len(described.inputs)
    numbers = [tf.constant(each) for each in numbers_of(described, texts).values()]
    with eagerly():
        answer = described.function(served(name), *given, *numbers)
    return {key: value.numpy() for key, value in answer.items()}


def numbers_of(described, texts):
    """Returns values of a signature's parameters: few tokens, and the likeliest of each."""
    values = {each: parameter.default for each, parameter in described.parameters.items()}
    few = {each: 3 for each in values if each == "max_new_tokens"}
    return {
        each: np.full(len(texts), value, described.parameters[each].dtype)
        for each, value in (values | few).items()
    }


def sums_of(name, rows):
    """Returns the sums that rows add to the metrics, op by op and in one chunk."""
    unigram = unigram_log_probabilities(COUNTS, served(name).tokenizer.vocabulary_size())
    whole = mock.patch("firth.serving.evaluate.in_chunks", lambda function, values, _: function(values))
    with eagerly(), whole:
        return evaluator(served(name), unigram)(tf.constant(rows))


def rows_of(name):
    return [sample_row(served(name), text.encode() * 2, index) for index, text in enumerate(TEXTS[::2])]


@pytest.mark.repeated
@pytest.mark.parametrize(("name", "signatures"), [*EXPORTED, *MORE_EXPORTED])
def test_an_export_answers_as_its_functions_do(name, signatures, tmp_path, monkeypatch):
    """In the loader of TF Serving; graphs know neither the number of texts nor their length beforehand."""
    made, directory = served(name), str(tmp_path / "model")
    offered = {
        each: described
        for each, described in text_signatures(made.recipe, made.tokenizer.mask_token).items()
        if each in signatures
    }
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: offered)
    counts = COUNTS if "evaluate" in signatures else None
    export(made.model, made.tokenizer, made.recipe, counts, directory)
    loaded = Loaded(directory)
    more = {f"{each}{WITH_PARAMETERS}" for each in signatures if each in ("generate", "attention")}
    more |= {"score_tokens"} if name == "gpt2_tiny" else set()
    assert set(loaded.signatures) == {*signatures, *more, "serving_default"}
    for signature, described in offered.items():
        texts = [(text + described.needs).encode() for text in TEXTS]
        numbers = numbers_of(described, texts)
        found = loaded.run(
            f"{signature}{WITH_PARAMETERS}" if numbers else signature,
            {**dict.fromkeys(described.inputs, texts), **numbers},
        )
        check_alike(found, asked(name, signature, TEXTS), signature)
    if "evaluate" in signatures:
        rows = rows_of(name)
        check_alike(loaded.run("evaluate", {"examples": rows}), sums_of(name, rows), "evaluate")


def check_alike(found, expected, signature):
    assert found.keys() == expected.keys()
    for key, values in found.items():
        if values.dtype.kind in "Ob":
            assert values.tolist() == expected[key].tolist(), f"{signature}: {key}"
        else:
            np.testing.assert_allclose(
                values, expected[key], rtol=1e-4, atol=1e-4, err_msg=f"{signature}: {key}"
            )


@pytest.mark.parametrize("name", PRESETS)
def test_a_model_offers_the_signatures_of_its_kind(name):
    assert tuple(text_signatures(recipe_of(name))) == PRESETS[name]


# BART is asked as T5 is, GPT-2 and a prefix LM as their decoder, and ELECTRA and DeBERTa as BERT.
asked_alike = pytest.mark.parametrize(
    "name", often(PRESETS, ("bert_tiny", "xlnet_tiny", "t5_tiny", "elmo_tiny"))
)


@asked_alike
def test_a_text_alone_gets_the_answer_that_it_gets_in_a_batch(name):
    # Over the models, each signature is asked with a long text alone, an empty one, and a short one.
    first = [*PRESETS].index(name)
    for number, signature in enumerate(PRESETS[name], first):
        index = number % len(TEXTS)
        together, alone = asked(name, signature, TEXTS), asked(name, signature, [TEXTS[index]])
        part = {
            key: together[key][index : index + 1][tuple(slice(size) for size in values.shape)]
            for key, values in alone.items()
        }
        if signature == "fill_mask":
            # The random model finds several pieces about as likely.
            del alone["pieces"], part["pieces"]
        check_alike(alone, part, signature)


@asked_alike
def test_a_row_alone_adds_what_it_adds_in_a_batch(name):
    rows = rows_of(name)
    together = sums_of(name, rows)
    assert set(together) == set(evaluation_sums(served(name).recipe.goal.loss_classes))
    main = served(name).recipe.objective.main_loss
    assert (together[f"{main}_weight_sum"].numpy() > 0).all()
    assert (together["bytes_sum"].numpy() > 0).all()
    alone = sums_of(name, rows[1:])
    for key, value in alone.items():
        if not key.endswith("correct_sum"):
            np.testing.assert_allclose(value[0], together[key][1], rtol=1e-4, err_msg=key)


def test_masks_are_filled_by_the_mask_decoder():
    made, text = served("deberta_v3_tiny"), "the [MASK] sat on a [MASK]"
    features = made.encode(tf.constant([text]), ["[MASK]"]).features
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
    found = fill_mask(made, tf.constant([text]))["scores"][0].numpy()
    np.testing.assert_allclose(found, -np.sort(-likely[0])[:, : found.shape[1]], rtol=1e-3)
    plain = made.model.heads.masked_lm_head(
        made.model.backbone(features), places, made.model.backbone.token_embedding.table
    )
    assert np.abs(plain - logits).max() > 0.1


def test_score_is_the_sum_of_the_pieces_log_probabilities():
    answer = asked("gpt2_tiny", "score", ["the cat sat"])
    assert answer["pieces"].tolist() == [[b"the", "Ġcat".encode(), "Ġsat".encode()]]
    np.testing.assert_allclose(answer["log_probabilities"].sum(), answer["log_probability"][0], rtol=1e-5)
    # An untrained model knows next to nothing.
    np.testing.assert_allclose(answer["log_probabilities"], -np.log(ROWS_OF_VOCABULARY), atol=0.5)
    first = asked("gpt2_tiny", "score", ["the"])
    np.testing.assert_allclose(first["log_probabilities"][0, 0], answer["log_probabilities"][0, 0], rtol=1e-4)


@pytest.mark.parametrize(
    "name", often(["prefix_lm_tiny", "t5_tiny", "bart_tiny"], ["prefix_lm_tiny", "t5_tiny"])
)
def test_score_of_a_target_depends_on_the_text_before_it(name):
    one, other = (
        score_target(served(name), tf.constant([text]), tf.constant(["sat on"]))["log_probabilities"].numpy()
        for text in ("the", "mat")
    )
    (target,) = served(name).tokenizer.tokenize(tf.constant(["sat on"])).to_list()
    assert one.shape == other.shape == (1, len(target))
    assert not np.allclose(one, other, atol=1e-7)


def test_elmo_gives_its_layers_and_reads_any_word():
    answer = asked("elmo_tiny", "embed_tokens", ["the zyzzyva"])
    layers = served("elmo_tiny").recipe.model.layers + 1
    assert answer["layers"].shape == (1, 2, layers, served("elmo_tiny").model.backbone.width)
    np.testing.assert_allclose(answer["layers"].mean(axis=2), answer["embeddings"], atol=1e-6)
    others = asked("elmo_tiny", "embed_tokens", ["the qwerty"])
    assert not np.allclose(answer["layers"][0, 1, 0], others["layers"][0, 1, 0])
    # A row has room for its words between `<S>` and `</S>`.
    room = served("elmo_tiny").row_length - 2
    longest = asked("elmo_tiny", "embed_tokens", [" ".join(["cat"] * words) for words in (room, room + 1)])
    assert longest["embeddings"].shape[1] == room and longest["truncated"].tolist() == [False, True]


def test_xlnet_reads_a_text_as_it_was_trained_to():
    features = served("xlnet_tiny").encode(tf.constant(["the cat", ""])).features
    pieces = len(served("xlnet_tiny").tokenizer.tokenize("the cat"))
    nothing = [0] * pieces
    # The pieces, [SEP], and [CLS] in a segment of its own.
    assert features["segment_ids"].numpy().tolist() == [[*nothing, 0, 2], [0, 2, *nothing]]
    assert features["document_ids"].numpy().tolist() == [[1] * (pieces + 2), [1, 1, *nothing]]
