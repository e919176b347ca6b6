"""Exported models give in CTranslate2's runtime what the Keras model gives."""

import functools
import pathlib
import sys
import tempfile

import keras
import numpy as np
import pytest

from firth import features as names
from firth.interop.ctranslate2 import export_model
from firth.interop.errors import InteropError
from firth.models import build_model, save_model
from firth.recipes.models import blocks
from firth.recipes.objectives.denoising import Denoising, IidDenoising
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tokenizers.tokenizer import WordPieceTokenizerConfig
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.interop.onnx.exporting_test import features_of
from tests.models.table import MODELS, PREDICTIONS, TRAINED, VOCABULARY, tiny_recipe
from tests.repeating import often

ctranslate2 = pytest.importorskip("ctranslate2")

TOLERANCE = {"rtol": 0, "atol": 1e-4}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Fewer than the rows of the model.
PIECES = [*SPECIAL, *"abcdefghij", *(f"<extra_id_{number}>" for number in range(4, -1, -1))]
ENCODERS = {
    "bert": MaskedLM(max_predictions=PREDICTIONS),
    "roberta": MaskedLM(max_predictions=PREDICTIONS, next_sentence=False),
}
DECODERS = {"gpt2": CausalLM(), "llama": CausalLM(), "llama_3_1": CausalLM()}
ENCODER_DECODERS = {"t5": IidDenoising(), "t5_1_1": IidDenoising(), "bart": Denoising()}
LENGTHS = (5, 9, 1)
SCALED = MODELS["llama_3_1"].model_copy(update={"share_layers": None})
SHAPES = {
    **MODELS,
    "llama_3_1": SCALED,
    "bart": MODELS["bart"].model_copy(update={"norm": blocks.NormConfig(epsilon=1e-5)}),
}


def written(model, objective, root, **parts):
    """Writes a bundle, and returns its model and its place."""
    tokenizer = WordPieceTokenizerConfig(vocabulary_size=VOCABULARY, sentinels=5)
    recipe = tiny_recipe(model, objective=objective, tokenizer=tokenizer, **parts)
    built = build_model(recipe)
    save_tokenizer(WordPieceTokenizer(PIECES), f"{root}/tokenizer")
    save_model(built, recipe, f"{root}/tokenizer", f"{root}/bundle")
    return built, f"{root}/bundle"


@functools.cache
def exported(name):
    """Returns a model, the folder that holds the model of CTranslate2 in `there`, and the files' paths."""
    objective = {**ENCODERS, **DECODERS, **ENCODER_DECODERS}[name]
    root = tempfile.TemporaryDirectory()
    model, bundle = written(SHAPES[name], objective, root.name)
    return model, root, export_model(bundle, f"{root.name}/there").files


def place(name):
    return f"{exported(name)[1].name}/there"


def rows(seed=0):
    """Returns rows of ids of several lengths, and the same padded with their mask."""
    generator = np.random.default_rng(seed)
    lists = [generator.integers(5, len(PIECES) - 5, length).tolist() for length in LENGTHS]
    mask = np.array([[1] * length + [0] * (max(LENGTHS) - length) for length in LENGTHS], "int32")
    ids = np.zeros(mask.shape, "int32")
    ids[mask > 0] = np.concatenate(lists)
    return lists, ids, mask


def assert_equal(found, expected, mask):
    real = mask.astype(bool)
    expected = keras.ops.convert_to_numpy(expected)
    np.testing.assert_allclose(np.asarray(found)[real], expected[real], **TOLERANCE)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_gives_the_hidden_states(name):
    model = exported(name)[0]
    lists, ids, mask = rows()
    segments = np.arange(ids.size).reshape(ids.shape) % model.backbone.config.embeddings.segments
    types = [row[:length].tolist() for row, length in zip(segments, LENGTHS)]
    made = ctranslate2.Encoder(place(name)).forward_batch(lists, token_type_ids=types)
    hidden = model.backbone({**features_of(ids, mask), names.SEGMENT_IDS: segments.astype("int32")})
    assert_equal(made.last_hidden_state, hidden, mask)
    if name == "bert":
        pooled = model.heads.pooler(hidden, np.zeros((len(ids), 1), "int32"))[:, 0]
        np.testing.assert_allclose(np.asarray(made.pooler_output), pooled, **TOLERANCE)


@pytest.mark.parametrize("name", often(DECODERS, ["gpt2", "llama_3_1"]))
def test_a_generator_gives_the_logits(name):
    model = exported(name)[0]
    lists, ids, mask = rows()
    found = ctranslate2.Generator(place(name)).forward_batch(lists)
    assert_equal(found, model.logits(features_of(ids, mask))["lm"], mask)


@pytest.mark.parametrize("name", often(ENCODER_DECODERS, ["t5", "bart"]))
def test_a_translator_gives_the_probabilities(name):
    model = exported(name)[0]
    lists, ids, mask = rows()
    targets, target_ids, target_mask = rows(seed=1)
    tokens = lambda each: [[PIECES[token] for token in row] for row in each]  # noqa: E731
    scored = ctranslate2.Translator(place(name)).score_batch(tokens(lists), tokens(targets))
    # A decoder reads what it starts from and then the target; the end is scored too.
    start = PIECES.index({"t5": "[PAD]", "t5_1_1": "[PAD]", "bart": "[SEP]"}[name])
    given = np.concatenate([np.full((len(ids), 1), start, "int32"), target_ids], axis=1)
    given_mask = np.concatenate([np.ones((len(ids), 1), "int32"), target_mask], axis=1)
    features = {**features_of(ids, mask), **features_of(given, given_mask, "decoder_")}
    logits = keras.ops.log_softmax(model.logits(features)["lm"])
    for row, (target, found) in enumerate(zip(targets, scored)):
        asked = [*target, PIECES.index("[SEP]")]
        expected = np.asarray(logits)[row, np.arange(len(asked)), asked]
        np.testing.assert_allclose(found.log_probs, expected, **TOLERANCE)


def test_files():
    files = {"model.bin", "config.json", "recipe.yaml", "tokenizer/vocab.txt"}
    assert files | {"vocabulary.json"} <= set(exported("bert")[2])
    assert files | {"shared_vocabulary.json"} <= set(exported("t5")[2])


def test_weights_are_rounded(tmp_path):
    model, root, _ = exported("gpt2")
    export_model(f"{root.name}/bundle", tmp_path / "small", quantization="int8")
    sizes = [pathlib.Path(each, "model.bin").stat().st_size for each in (place("gpt2"), tmp_path / "small")]
    assert sizes[1] < 0.6 * sizes[0]
    lists, ids, mask = rows()
    found = ctranslate2.Generator(str(tmp_path / "small")).forward_batch(lists)
    np.testing.assert_allclose(
        np.asarray(found)[mask > 0],
        np.asarray(model.logits(features_of(ids, mask))["lm"])[mask > 0],
        atol=0.5,
    )
    with pytest.raises(InteropError, match="'int7' is not one of int8, "):
        export_model(f"{root.name}/bundle", tmp_path / "other", quantization="int7")


REFUSED = {
    "masked_lm, order of sentences": "albert",
    "replaced_token_detection": "electra",
    "masked_lm, mask decoder": "deberta-v2",
    "unilm": "unilm",
    "prefix_lm": "causal_transformer",
}


@pytest.mark.parametrize("case", often(REFUSED, ["unilm", "prefix_lm"]))
def test_other_families_are_refused_by_name(case, tmp_path):
    name, objective = TRAINED[case]
    if objective.predictions:
        objective = objective.model_copy(update={"max_predictions": PREDICTIONS})
    _, bundle = written(MODELS[name], objective, tmp_path)
    with pytest.raises(InteropError, match=f"{REFUSED[case]}.* CTranslate2, which runs BERT, .* BART"):
        export_model(bundle, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_bad_input_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InteropError, match="is not a model bundle"):
        export_model(tmp_path / "nothing", tmp_path / "there")
    with pytest.raises(FileExistsError, match="is there already"):
        export_model(f"{exported('gpt2')[1].name}/bundle", place("gpt2"))
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    monkeypatch.setitem(sys.modules, "ctranslate2.specs.model_spec", None)
    with pytest.raises(InteropError, match=r"pip install 'firth\[ctranslate2\]'"):
        export_model(f"{exported('gpt2')[1].name}/bundle", tmp_path / "there")
