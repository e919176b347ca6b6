"""A folder in Hugging Face's format becomes a bundle that is loaded, served and exported."""

import json
import math
import pathlib

import keras
import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

from firth.generation.framing import framing_of
from firth.interop.errors import InteropError
from firth.interop.hugging_face import export_model, import_model
from firth.models import PretrainingModel, load_model
from firth.models.bundle import read_recipe
from firth.recipes import RecipeError
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.run.imported_recipe import ImportedRecipe
from firth.serving import Client, load_served
from firth.serving.bundle import export_bundle
from firth.serving.embeddings import embed
from firth.serving.score import score
from firth.serving.signatures import text_signatures
from tests.interop.hugging_face.checkpoints import PIECES, checkpoint
from tests.models import references


def test_a_model_with_its_heads(tmp_path):
    read = import_model(checkpoint(tmp_path), tmp_path / "bundle", "tiny")
    assert read.fresh == read.surplus == ()
    model, recipe = load_model(tmp_path / "bundle"), read_recipe(tmp_path / "bundle")
    assert isinstance(model, PretrainingModel) and isinstance(recipe, ImportedRecipe)
    assert recipe.objective.next_sentence and recipe.sequences.length == 14
    features = references.features_of("bert")
    found = keras.ops.convert_to_numpy(model.backbone(features))
    golden, real = references.read_golden("bert")["hidden/last"], features["document_ids"] > 0
    np.testing.assert_allclose(found[real], golden[real], atol=1e-4)


def test_a_text_is_read_with_the_tokenizer_that_came_along(tmp_path):
    import_model(checkpoint(tmp_path), tmp_path / "bundle", "tiny")
    served = load_served(tmp_path / "bundle")
    ids = served.encode(["The cats sat", "[MASK] mat"], specials=["[MASK]"]).features["token_ids"].numpy()
    assert ids.tolist() == [[2, 5, 7, 11, 8, 3], [2, 4, 10, 3, 0, 0]]


def test_heads_that_are_missing_are_fresh_and_said(tmp_path):
    golden = references.read_golden("bert")
    heads = {key.removeprefix("weight/"): None for key in golden if "cls." in key or "pooler" in key}
    read = import_model(checkpoint(tmp_path, heads), tmp_path / "bundle", "tiny")
    assert {path.split("/")[1] for path in read.fresh} == {"masked_lm_head"}
    assert not read_recipe(tmp_path / "bundle").objective.next_sentence


def test_sentence_transformers_pooling_is_kept(tmp_path):
    path = checkpoint(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    read = import_model(path, tmp_path / "bundle", "tiny")
    assert read_recipe(tmp_path / "bundle").export.pooling == "mean_with_special"
    assert read.notes == () and (read.length, read.length_reason) == (
        14,
        "config.json: max_position_embeddings",
    )


@pytest.mark.parametrize(
    ("name", "config", "length", "reason"),
    [
        ("gpt2", {"n_positions": 1024}, 1024, "config.json: n_positions"),
        pytest.param(
            "llama",
            {"max_position_embeddings": 4096},
            4096,
            "config.json: max_position_embeddings",
            marks=pytest.mark.repeated,
        ),
        (
            "llama",
            {"max_position_embeddings": 131072},
            8192,
            "config.json: max_position_embeddings is 131072",
        ),
        ("llama", {}, 512, "it says no length of its own"),
        ("t5", {"n_positions": 1024}, 512, "config.json: n_positions is 1024"),
    ],
)
def test_as_many_tokens_are_read_as_the_model_has_positions(name, config, length, reason, tmp_path):
    table = {"transformer.wpe.weight": np.zeros((1024, 16), "float32")} if name == "gpt2" else {}
    read = import_model(checkpoint(tmp_path, table, name, **config), tmp_path / "bundle", "tiny")
    assert read_recipe(tmp_path / "bundle").sequences.length == length
    assert f"reads up to {length} tokens of a text, special ones included: {reason}" in read.sentences(5)


def test_what_sentence_transformers_embeds_is_what_is_embedded(tmp_path):
    """A folder of its own for the transformer, vectors of length one, at most eight tokens."""
    (tmp_path / "in" / "0_Transformer").mkdir(parents=True)
    home = pathlib.Path(checkpoint(tmp_path / "in" / "0_Transformer"))
    (home / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 8}))
    places = {"Transformer": "0_Transformer", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"type": f"sentence_transformers.models.{name}", "path": path} for name, path in places.items()
    ]
    (tmp_path / "in" / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "in" / "1_Pooling").mkdir()
    (tmp_path / "in" / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    read = import_model(tmp_path / "in", tmp_path / "bundle", "tiny")
    assert (read.length, read.length_reason) == (8, "sentence_bert_config.json: max_seq_length")
    served = load_served(tmp_path / "bundle")
    answer = embed(served, tf.constant(["the cat sat on a mat the cat"]))
    assert answer["truncated"].numpy().tolist() == [True]
    states = served.encoder_states(served.encode(["the cat sat on a mat the cat"]).features).numpy()
    np.testing.assert_allclose(answer["embedding"], states[:, 0] / np.linalg.norm(states[:, 0]), atol=1e-5)
    export_model(tmp_path / "bundle", tmp_path / "out")
    import_model(tmp_path / "out", tmp_path / "back", "back")
    back, there = read_recipe(tmp_path / "back"), read_recipe(tmp_path / "bundle")
    assert (back.export, back.sequences) == (there.export, there.sequences)


# Odd widths, with and without a bias; two modules one after another, and more.
ONE_DENSE = [("Tanh", 7, True)]
TWO_DENSE = [("GELU", 5, True), ("Identity", 3, False)]
MORE_DENSE = [
    ("ReLU", 1, True),
    ("Sigmoid", 9, True),
    ("SiLU", 2, False),
    ("Identity", 21, False),
    *ONE_DENSE,
]
OF_NUMPY = {
    "Tanh": np.tanh,
    "Identity": lambda x: x,
    "GELU": lambda x: x * (0.5 + 0.5 * np.vectorize(math.erf)(x / math.sqrt(2))),
    "ReLU": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "SiLU": lambda x: x / (1 + np.exp(-x)),
}


def sentence_encoder(folder, dense, normalizes=False):
    """A folder of sentence-transformers: a BERT, its first state, and dense layers. Returns their weights."""
    folder.mkdir()
    home = pathlib.Path(checkpoint(folder))
    width = json.loads((home / "config.json").read_text())["hidden_size"]
    names = ["Transformer", "Pooling", *["Dense"] * len(dense), *["Normalize"] * normalizes]
    places = ["", *(f"{place}_{name}" for place, name in enumerate(names[1:], 1))]
    modules = [
        {"type": f"sentence_transformers.models.{name}", "path": path} for name, path in zip(names, places)
    ]
    (home / "modules.json").write_text(json.dumps(modules))
    (home / "1_Pooling").mkdir()
    (home / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    generator, weights = np.random.default_rng(3), []
    for place, (activation, out, bias) in zip(places[2:], dense):
        (home / place).mkdir()
        tensors = {"linear.weight": generator.normal(0, 0.7, [out, width]).astype("float32")}
        if bias:
            tensors["linear.bias"] = generator.normal(0, 0.7, [out]).astype("float32")
        module = "linear" if activation == "Identity" else "activation"
        said = {"in_features": width, "out_features": out, "bias": bias}
        said["activation_function"] = f"torch.nn.modules.{module}.{activation}"
        (home / place / "config.json").write_text(json.dumps(said))
        safetensors.numpy.save_file(tensors, home / place / "model.safetensors")
        weights.append((tensors["linear.weight"], tensors.get("linear.bias", 0.0), OF_NUMPY[activation]))
        width = out
    return home, weights


@pytest.mark.parametrize(
    "dense", [pytest.param(TWO_DENSE, marks=pytest.mark.repeated), MORE_DENSE], ids=["two", "more"]
)
def test_dense_layers_are_those_of_sentence_transformers(dense, tmp_path):
    """By its formula, `activation(linear(vector))` of each module, in NumPy."""
    home, weights = sentence_encoder(tmp_path / "in", dense, normalizes=len(dense) == 2)
    read = import_model(home, tmp_path / "bundle", "tiny")
    assert read.fresh == read.surplus == ()
    served = load_served(tmp_path / "bundle")
    texts = ["the cat sat", "", "mat"]
    expected = served.encoder_states(served.encode(texts).features).numpy()[:, 0].astype("float64")
    for kernel, bias, activation in weights:
        expected = activation(expected @ kernel.T + bias)
    if served.recipe.export.normalize:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(embed(served, tf.constant(texts))["embedding"], expected, atol=1e-5)
    export_model(tmp_path / "bundle", tmp_path / "out")
    for path in sorted(home.glob("*_Dense/*")):
        there = tmp_path / "out" / path.relative_to(home)
        if path.suffix == ".json":
            assert json.loads(there.read_text()) == json.loads(path.read_text())
        else:
            ours, theirs = (safetensors.numpy.load_file(each) for each in (there, path))
            assert ours.keys() == theirs.keys() and all((ours[name] == theirs[name]).all() for name in ours)
    import_model(tmp_path / "out", tmp_path / "back", "back")
    assert read_recipe(tmp_path / "back").export == served.recipe.export


def test_an_exported_model_projects_and_a_run_from_it_does_not(tmp_path, monkeypatch):
    home, _ = sentence_encoder(tmp_path / "in", TWO_DENSE)
    # Tracing the other signatures takes most of an export's time.
    monkeypatch.setattr(
        "firth.serving.saved_model.text_signatures",
        lambda *asked: {"embed": text_signatures(*asked)["embed"]},
    )
    import_model(home, tmp_path / "bundle", "tiny")
    export_bundle(tmp_path / "bundle", tmp_path / "served" / "1")
    expected = embed(load_served(tmp_path / "bundle"), tf.constant(["the cat"]))["embedding"]
    found = Client(tmp_path / "served").embed(["the cat"])
    assert found.shape == (1, 3)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    labels = {"task": {"kind": "classification", "labels": ["a", "b"]}}
    data = {"data": {"kind": "columns", "train": "a.csv"}, **labels, "base": str(tmp_path / "bundle")}
    (tmp_path / "adapt.yaml").write_text(json.dumps(data))
    assert load_adapting_recipe(tmp_path / "adapt.yaml").export.projections == ()
    (tmp_path / "adapt.yaml").write_text(json.dumps({**data, "export": {"projections": [{"width": 3}]}}))
    with pytest.raises(RecipeError, match=r"export\.projections"):
        load_adapting_recipe(tmp_path / "adapt.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation_function": "torch.nn.modules.activation.Mish"}, "activation_function: .*Mish"),
        ({"out_features": 0}, "out_features: 0 is not a width"),
        ({"module_input_name": "token_embeddings"}, "module_input_name: 'token_embeddings'"),
        ({"dropout": 0.5}, "dropout: 0.5"),
        ({"out_features": 6}, r"linear\.weight is \[7, \d+\]"),
        ({"bias": False}, r"the tensor linear\.bias has no place here"),
        (None, r"2_Dense/model\.safetensors is missing"),
    ],
)
def test_what_a_dense_layer_cannot_be_is_named(change, message, tmp_path):
    home, _ = sentence_encoder(tmp_path / "in", ONE_DENSE)
    if change is None:
        (home / "2_Dense" / "model.safetensors").rename(home / "2_Dense" / "pytorch_model.bin")
    else:
        said = json.loads((home / "2_Dense" / "config.json").read_text())
        (home / "2_Dense" / "config.json").write_text(json.dumps({**said, **change}))
    with pytest.raises(InteropError, match=f"2_Dense.*{message}" if change else message):
        import_model(home, tmp_path / "bundle", "tiny")
    assert not (tmp_path / "bundle").exists()


def test_what_stays_outside_is_noted(tmp_path):
    path = checkpoint(tmp_path, (), "bart", decoder_start_token_id=2, eos_token_id=[3, 7, 0, -1])
    (tmp_path / "generation_config.json").write_text(json.dumps({"_from_model_config": True, "num_beams": 4}))
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert import_model(path, tmp_path / "bundle", "tiny").notes == (
        "generation_config.json is not read, and does not go out again: num_beams",
        "eos_token_id: texts end at '[SEP]' or 'cat' or '[PAD]' or -1 in the published model, "
        "here at '[SEP]' alone",
        "decoder_start_token_id: the published decoder starts from 2, here it starts from '[SEP]'",
    )


def test_what_is_of_the_training_alone_is_noted(tmp_path):
    path = checkpoint(tmp_path, (), "gpt2", embd_pdrop=0.3, num_beams=4, do_sample=None)
    notes = import_model(path, tmp_path / "bundle", "tiny").notes
    assert "embd_pdrop: 0.3 is of the training alone, where 0.0 is in force here" in notes
    assert "num_beams: of how texts are written, which is not read here" in notes


@pytest.mark.parametrize(
    ("name", "settings", "before"),
    [
        pytest.param("gpt2", {}, [], marks=pytest.mark.repeated),
        pytest.param("gpt2", {"add_bos_token": True}, [2], marks=pytest.mark.repeated),
        ("llama", {}, [2]),
        pytest.param("llama", {"add_bos_token": False}, [], marks=pytest.mark.repeated),
        # It has no piece that begins a text.
        ("qwen_3", {"bos_token": None, "cls_token": None, "eos_token": "[SEP]", "add_bos_token": False}, []),
    ],
)
def test_texts_begin_as_the_published_tokenizer_begins_them(name, settings, before, tmp_path):
    path = checkpoint(tmp_path, (), name, eos_token_id=3)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    notes = import_model(path, tmp_path / "bundle", "tiny").notes
    # Notes on one text; two are framed by tasks.
    assert not [note for note in notes if "a text A" in note or "eos_token_id" in note]
    served = load_served(tmp_path / "bundle")
    assert served.recipe.objective.begin == ("cls" if before else "none")
    # By choice they begin otherwise, which is noted.
    other = "none" if before else "cls"
    if name == "qwen_3":
        with pytest.raises(InteropError, match="begin: 'cls': the tokenizer has no cls, only"):
            import_model(path, tmp_path / "other", "tiny", begin=other)
    elif not settings:
        notes = import_model(path, tmp_path / "other", "tiny", begin=other).notes
        assert read_recipe(tmp_path / "other").objective.begin == other
        assert [note for note in notes if "a text A" in note]
    assert served.encode(["the cat"]).features["token_ids"].numpy().tolist() == [[*before, 5, 7]]
    framing = framing_of(served.recipe, served.tokenizer)
    assert framing.read(["the cat"])[0].ids == (*before, 5, 7)
    scored = score(served, tf.constant(["the cat sat", "the", ""]))
    assert scored["token_count"].numpy().tolist() == ([3, 1, 0] if before else [2, 0, 0])
    logits = served.model.logits(served.encode(["the cat sat"]).features)["lm"]
    places = [[*before, 5, 7, 8].index(each) for each in ([5, 7, 8] if before else [7, 8])]
    logs = keras.ops.log_softmax(logits)[0]
    expected = [float(logs[place - 1, token]) for place, token in zip(places, [5, 7, 8][-len(places) :])]
    np.testing.assert_allclose(scored["log_probabilities"][0], expected, atol=1e-5)


def test_a_tokenizer_of_other_weights_is_refused(tmp_path):
    path = checkpoint(tmp_path)
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in [*PIECES, *map(str, range(40))]))
    with pytest.raises(InteropError, match="has 52 pieces, the weights have 40 rows"):
        import_model(path, tmp_path / "bundle", "tiny")
    assert not (tmp_path / "bundle").exists()
