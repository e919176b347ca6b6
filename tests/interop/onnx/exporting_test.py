"""Exported models give in onnxruntime what the Keras model gives."""

import contextlib
import functools
import json
import pathlib
import sys
import tempfile

import keras
import numpy as np
import pytest

from firth import features as names
from firth.interop.errors import InteropError
from firth.interop.onnx import export_model, exporting
from firth.interop.onnx.exporting import DESCRIPTION_FILE
from firth.models import build_model
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tokenizers.tokenizer import WordPieceTokenizerConfig, WordTokenizerConfig
from tests.interop.onnx.graphs import as_converted, without_copies
from tests.models.bundle_test import saved
from tests.models.table import CHARACTERS, MODELS, OTHERS, TRAINED, VOCABULARY, tiny_recipe

onnxruntime = pytest.importorskip("onnxruntime")

TOLERANCE = {"rtol": 0, "atol": 1e-5}


def also_repeated(first, others):
    """Returns cases of `TRAINED`, of which `make test` runs the first."""
    return [first, *(pytest.param(case, marks=pytest.mark.repeated) for case in others)]


# Models that no case of `TRAINED` is of.
FURTHER = {
    "roberta": MODELS["roberta"],
    "modernbert": MODELS["modernbert"],
}
FURTHER_DECODERS = {"qwen_3": MODELS["qwen_3"], "local": MODELS["local"]}
SEGMENTS = {"roberta": 1}
ONE_LAYER = (
    *("masked_lm", "unilm", "replaced_token_detection, mask decoder", "permutation_lm", "roberta"),
    # Its decoder has one.
    "iid_denoising",
)
ENCODERS = also_repeated(
    "masked_lm",
    [
        "masked_lm, order of sentences",
        "unilm",
        "replaced_token_detection, mask decoder",
        "permutation_lm",
        *FURTHER,
    ],
)
DECODERS = also_repeated("causal_lm, table of its own", ["causal_lm", "prefix_lm", *FURTHER_DECODERS])
ENCODER_DECODERS = also_repeated("iid_denoising", ["denoising"])
SIZES = [(1, 5), (3, 12), (2, 1)]


@pytest.fixture(autouse=True, scope="module")
def _without_copies():
    with without_copies():
        yield


@functools.cache
def exported(case):
    """Returns the model of a case of `TRAINED`, the folder of its files, and their paths."""
    objective = CausalLM() if case in FURTHER_DECODERS else MaskedLM(next_sentence=False)
    name, objective = TRAINED.get(case, (case, objective))
    words = WordTokenizerConfig(vocabulary_size=VOCABULARY, max_characters=CHARACTERS)
    pieces = WordPieceTokenizerConfig(vocabulary_size=VOCABULARY, sentinels=5, lowercase=False)
    config = {**MODELS, **OTHERS, **FURTHER}[name]
    if case in ONE_LAYER:
        # The decoders show how layers follow each other, and take more time for each.
        config = config.model_copy(update={"layers": 1})
    if objective.predictions:
        objective = objective.model_copy(update={"max_predictions": 3})
    recipe = tiny_recipe(config, objective=objective, tokenizer=words if config.max_characters else pieces)
    root = tempfile.TemporaryDirectory()
    model = build_model(recipe)
    with as_converted() if case in (DECODERS[0], ENCODER_DECODERS[0]) else contextlib.nullcontext():
        paths = export_model(saved(model, recipe, root.name), f"{root.name}/onnx").files
    return model, root, paths


@functools.cache
def session(case, file):
    return onnxruntime.InferenceSession(f"{exported(case)[1].name}/onnx/{file}.onnx")


def run(case, file, given):
    made = session(case, file)
    outputs = [each.name for each in made.get_outputs()]
    return dict(zip(outputs, made.run(None, {key: np.asarray(value) for key, value in given.items()})))


def drawn(batch, length, seed=0):
    """Returns ids and a mask whose last row is padded after its first tokens."""
    mask = np.ones((batch, length), "int32")
    mask[-1, (length + 1) // 2 + 1 :] = 0
    ids = np.random.default_rng(seed).integers(1, VOCABULARY, (batch, length)).astype("int32")
    return ids * mask, mask


def features_of(ids, mask, prefix=""):
    places = np.tile(np.arange(ids.shape[1], dtype="int32"), (len(ids), 1)) * mask
    return {
        f"{prefix}{key}": value
        for key, value in zip((names.TOKEN_IDS, names.POSITION_IDS, names.DOCUMENT_IDS), (ids, places, mask))
    }


def order(case, file, ids):
    """Returns an order of tokens in which the first three see each other, if a file reads one."""
    if names.ATTENTION_ORDER not in {each.name for each in session(case, file).get_inputs()}:
        return {}
    places = np.maximum(np.arange(ids.shape[1], dtype="int32") - 2, 0)
    return {names.ATTENTION_ORDER: np.tile(places, (len(ids), 1))}


def assert_equal(found, expected, mask):
    expected = keras.ops.convert_to_numpy(expected)
    real = mask.astype(bool) if expected.shape[:2] == mask.shape else slice(None)
    np.testing.assert_allclose(found[real], expected[real], **TOLERANCE)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", ENCODERS)
def test_an_encoder_gives_states_logits_and_what_is_pooled(case, size):
    model = exported(case)[0]
    ids, mask = drawn(*size)
    segments = {}
    if model.backbone.config.reads_segments:
        segments = {
            names.SEGMENT_IDS: (np.arange(ids.size).reshape(ids.shape) // 3 % SEGMENTS.get(case, 2)).astype(
                "int32"
            )
        }
    further = {**segments, **order(case, "encoder", ids)}
    features = {**features_of(ids, mask), **further}
    found = run(case, "encoder", {"token_ids": ids, "attention_mask": mask, **further})
    assert_equal(found["last_hidden_state"], model.backbone(features), mask)
    logits = model.logits(features)
    assert logits
    for loss, each in logits.items():
        assert_equal(found[f"{loss}_logits"], each, mask)
    if "pooled" in found:
        pooled = model.heads.pair_head(keras.ops.expand_dims(found["pooled"], 1))
        of_pairs = found["nsp_logits"] if "nsp" in logits else found["sop_logits"]
        np.testing.assert_allclose(of_pairs, pooled, **TOLERANCE)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", DECODERS)
def test_a_decoder_gives_states_and_logits(case, size):
    model = exported(case)[0]
    ids, mask = drawn(*size)
    further = order(case, "decoder", ids)
    found = run(case, "decoder", {"token_ids": ids, "attention_mask": mask, **further})
    features = {**features_of(ids, mask), **further}
    assert_equal(found["last_hidden_state"], model.backbone(features), mask)
    assert_equal(found["lm_logits"], model.logits(features)["lm"], mask)


def steps(model, case, ids, mask, given, prefix=""):
    """Returns a decoder's states and logits, read in parts of one to three tokens."""
    stack = getattr(model.backbone.config, "decoder_stack", model.backbone.config.stack)
    empty = np.zeros((2, len(ids), stack.key_value_heads, 0, stack.head_width), "float32")
    caches = {f"cache_{layer}": empty for layer in range(stack.layers)}
    read = []
    for begin, end in ((0, 3), (3, 4), (4, 5), (5, ids.shape[1])):
        tokens = {f"{prefix}token_ids": ids[:, begin:end], f"{prefix}attention_mask": mask[:, :end]}
        if "attention_order" in given:
            tokens["attention_order"] = given["attention_order"][:, :end]
        made = run(case, "decoder_step", {**given, **tokens, **caches})
        caches = {name: made[f"new_{name}"] for name in caches}
        read.append((made["last_hidden_state"], made["lm_logits"]))
    return [np.concatenate(parts, axis=1) for parts in zip(*read)]


@pytest.mark.parametrize("case", DECODERS)
def test_steps_of_a_decoder_give_what_whole_rows_give(case):
    model = exported(case)[0]
    ids, mask = drawn(3, 8)
    further = order(case, "decoder", ids)
    whole = run(case, "decoder", {"token_ids": ids, "attention_mask": mask, **further})
    hidden, logits = steps(model, case, ids, mask, further)
    assert_equal(hidden, whole["last_hidden_state"], mask)
    assert_equal(logits, whole["lm_logits"], mask)


@pytest.mark.parametrize("case", DECODERS)
def test_padding_before_a_row_changes_nothing(case):
    ids, mask = drawn(3, 8)
    count = mask[-1].sum()
    shift = ids.shape[1] - count
    left, left_mask = np.roll(ids[-1:], shift), np.roll(mask[-1:], shift)
    assert shift and not left_mask[0, 0]
    further = {name: np.zeros_like(value) for name, value in order(case, "decoder", ids).items()}
    right = run(case, "decoder", {"token_ids": ids, "attention_mask": mask, **further})
    further = {name: value[-1:] for name, value in further.items()}
    found = run(case, "decoder", {"token_ids": left, "attention_mask": left_mask, **further})
    np.testing.assert_allclose(found["lm_logits"][0, shift:], right["lm_logits"][-1, :count], **TOLERANCE)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", ENCODER_DECODERS)
def test_an_encoder_and_its_decoder_give_states_and_logits(case, size):
    model = exported(case)[0]
    ids, mask = drawn(*size)
    targets, target_mask = drawn(size[0], 8, seed=1)
    features = {**features_of(ids, mask), **features_of(targets, target_mask, "decoder_")}
    encoded = run(case, "encoder", {"token_ids": ids, "attention_mask": mask})
    assert_equal(encoded["last_hidden_state"], model.backbone.encode(features), mask)
    given = {"decoder_token_ids": targets, "decoder_attention_mask": target_mask, "attention_mask": mask}
    found = run(case, "decoder", {**given, "encoder_hidden_states": encoded["last_hidden_state"]})
    assert_equal(found["last_hidden_state"], model.backbone(features), target_mask)
    assert_equal(found["lm_logits"], model.logits(features)["lm"], target_mask)
    contexts = {name: value for name, value in encoded.items() if name.startswith("context_cache")}
    hidden, logits = steps(
        model, case, targets, target_mask, {**contexts, "attention_mask": mask}, "decoder_"
    )
    assert_equal(hidden, found["last_hidden_state"], target_mask)
    assert_equal(logits, found["lm_logits"], target_mask)


@pytest.mark.repeated
@pytest.mark.parametrize("size", [(1, 5), (3, 40), (2, 1)])
def test_words_are_read_by_their_characters(size):
    case = "bidirectional_lm"
    model = exported(case)[0]
    _, mask = drawn(*size)
    characters = np.random.default_rng(0).integers(1, 262, (*size, CHARACTERS)).astype("int32")
    features = {names.CHARACTERS: characters, names.DOCUMENT_IDS: mask}
    found = run(case, "encoder", {"characters": characters, "attention_mask": mask})
    assert_equal(found["last_hidden_state"], model.backbone(features), mask)
    layers = np.asarray(model.backbone.layer_outputs(features))
    for layer in range(layers.shape[1]):
        assert_equal(found["layers"][:, layer], layers[:, layer], mask)
    both = np.concatenate([mask, mask], axis=1)
    assert_equal(found["lm_logits"], model.logits(features)["lm"], both)


def test_files_and_what_is_said_of_them():
    _, root, paths = exported("masked_lm")
    folder = pathlib.Path(root.name, "onnx")
    assert (
        list(paths)
        == sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())[1:]
    )
    assert {"encoder.onnx", "recipe.yaml", "firth.json", "tokenizer/vocab.txt"} <= set(paths)
    said = json.loads((folder / DESCRIPTION_FILE).read_text())
    assert said["name"] == "tiny"
    encoder = said["files"]["encoder.onnx"]
    assert encoder["inputs"]["token_ids"]["axes"] == ["batch", "length"]
    given = {each.name: each for each in session("masked_lm", "encoder").get_inputs()}
    assert {name: port["axes"] for name, port in encoder["inputs"].items()} == {
        name: each.shape for name, each in given.items()
    }
    assert encoder["outputs"] == [each.name for each in session("masked_lm", "encoder").get_outputs()]


def test_what_is_there_already_stays(tmp_path):
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "mine").write_text("mine")
    with pytest.raises(FileExistsError, match="is there already"):
        export_model(f"{exported('masked_lm')[1].name}/bundle", tmp_path / "onnx")
    assert (tmp_path / "onnx" / "mine").read_text() == "mine"


def test_a_folder_that_is_not_a_bundle_is_refused(tmp_path):
    with pytest.raises(InteropError, match="is not a model bundle"):
        export_model(tmp_path / "nothing", tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_a_model_that_no_file_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "MOST_BYTES", 10_000)
    with pytest.raises(InteropError, match=r"0\.0 GB in float32; a file of ONNX holds 1e-05 GB"):
        export_model(f"{exported('masked_lm')[1].name}/bundle", tmp_path / "onnx")


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    with pytest.raises(InteropError, match=r"pip install 'firth\[onnx\]'"):
        export_model(f"{exported('masked_lm')[1].name}/bundle", tmp_path / "onnx")
