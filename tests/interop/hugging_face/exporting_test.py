"""From Hugging Face's format to a bundle and back: the same tensors, bit by bit, and configuration."""

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face import export_model, import_model
from firth.interop.hugging_face.checkpoint_folder import Directory
from firth.models import build_model, load_model, save_model
from firth.models.bundle import open_weights, read_recipe
from firth.recipes import load_recipe
from firth.storage.tensor_files import TensorFile
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.interop.hugging_face.checkpoints import (
    NAMES,
    PIECES,
    checkpoint,
    config_of,
    model_type,
    tensors_of,
)
from tests.models import references
from tests.repeating import often

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def tensors_in(folder) -> dict[str, np.ndarray]:
    with Directory(folder).tensors() as tensors:
        return dict(tensors)


def config_in(folder) -> dict:
    return json.loads((pathlib.Path(folder) / "config.json").read_text())


def round_trip(tmp_path, name, changed=(), **arguments) -> pathlib.Path:
    (tmp_path / "in").mkdir()
    import_model(checkpoint(tmp_path / "in", changed, name), tmp_path / "bundle", name)
    export_model(tmp_path / "bundle", tmp_path / "out", **arguments)
    return tmp_path / "out"


def assert_same(found, expected) -> None:
    assert set(found) == set(expected)
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype, name
        assert found[name].tobytes() == np.ascontiguousarray(tensor).tobytes(), name


# The classes of two golden files that are made of parts.
ARCHITECTURES = {"electra": "ElectraForPreTraining", "t5_1_1": "T5ForConditionalGeneration"}


def kept(config) -> dict:
    """The keys of a configuration that are written back as they were."""
    # DeBERTa's length is that of its distances, since it has no table of positions.
    lost = {"max_position_embeddings"} if "max_relative_positions" in config else set()
    return {key: value for key, value in config.items() if key not in lost}


@pytest.mark.parametrize("name", often(NAMES, ["bert", "deberta", "xlnet", "gpt2", "t5_1_1", "bart"]))
def test_a_model_goes_out_as_it_came_in(name, tmp_path):
    out = round_trip(tmp_path, name)
    assert_same(tensors_in(out), tensors_of(name))
    given, written = kept(config_of(name)), config_in(out)
    assert {key: written[key] for key in given} == given
    assert written["architectures"] == [ARCHITECTURES.get(name, references.made_with(name)["model"])]
    assert (written["model_type"], written["torch_dtype"]) == (model_type(name), "float32")
    assert TensorFile(out / "model.safetensors").metadata == {"format": "pt"}


def test_each_tensor_has_the_dtype_that_it_was_stored_in(tmp_path):
    given = {name: tensor.astype(BFLOAT16) for name, tensor in tensors_of("bert").items()}
    half = "bert.encoder.layer.0.attention.self.key.weight"
    given[half] = given[half].astype("float16")
    assert_same(tensors_in(round_trip(tmp_path, "bert", given)), given)
    assert config_in(tmp_path / "out")["torch_dtype"] == "bfloat16"


def test_what_was_trained_further_is_not_rounded(tmp_path):
    given = {name: tensor.astype(BFLOAT16) for name, tensor in tensors_of("gpt2").items()}
    round_trip(tmp_path, "gpt2", given)
    model, bundle = load_model(tmp_path / "bundle"), tmp_path / "bundle"
    table = model.backbone.token_embedding.table
    table.assign_add(np.full(table.shape, 1e-6, "float32"))
    stored = {path: ["BF16"] * 3 for path in ("backbone/token_embedding/table",)}
    save_model(model, read_recipe(bundle), bundle / "tokenizer", tmp_path / "trained", stored)
    export_model(tmp_path / "trained", tmp_path / "later")
    assert tensors_in(tmp_path / "later")["transformer.wte.weight"].dtype == "float32"
    export_model(tmp_path / "trained", tmp_path / "asked", dtype="bfloat16")
    assert {each.dtype for each in tensors_in(tmp_path / "asked").values()} == {BFLOAT16}
    with pytest.raises(InteropError, match="'int8' is not known"):
        export_model(tmp_path / "trained", tmp_path / "int8", dtype="int8")


def test_numbers_beyond_a_dtype_are_named(tmp_path):
    name = "bert.embeddings.word_embeddings.weight"
    large = tensors_of("bert")[name] + np.float32(1e5)
    with pytest.raises(InteropError, match=f"{name} holds numbers beyond float16"):
        round_trip(tmp_path, "bert", {name: large}, dtype="float16")
    assert not (tmp_path / "out").exists()


def test_a_large_model_is_written_in_shards(tmp_path):
    out = round_trip(tmp_path, "bert", shard_bytes=4000)
    index = json.loads((out / "model.safetensors.index.json").read_text())
    tensors = tensors_of("bert")
    assert index["metadata"]["total_size"] == sum(each.nbytes for each in tensors.values())
    assert len(set(index["weight_map"].values())) > 3 and not (out / "model.safetensors").exists()
    assert all((out / file).stat().st_size < 6000 for file in index["weight_map"].values())
    assert_same(tensors_in(out), tensors)


@pytest.mark.parametrize(
    "pooling", ["mean", pytest.param("mean_with_special", marks=pytest.mark.repeated), "first"]
)
def test_pooling_that_sentence_transformers_has_comes_back(pooling, tmp_path):
    path = bundle(tmp_path, "bert_tiny", [f"export.pooling={pooling}"])
    written = export_model(path, tmp_path / "out")
    place = "2_Pooling" if pooling == "mean" else "1_Pooling"
    assert {"modules.json", f"{place}/config.json"} <= set(written.files) and not written.notes
    import_model(tmp_path / "out", tmp_path / "back", "back")
    assert read_recipe(tmp_path / "back").export.pooling == pooling


def test_a_mean_without_special_pieces_weighs_them_by_nothing(tmp_path):
    export_model(bundle(tmp_path, "bert_tiny"), tmp_path / "out")
    said = json.loads((tmp_path / "out" / "1_WordWeights" / "config.json").read_text())
    assert said["vocab"] == PIECES and said["unknown_word_weight"] == 1
    assert said["word_weights"] == {"[CLS]": 0, "[SEP]": 0}
    said["word_weights"]["the"] = 0.5
    (tmp_path / "out" / "1_WordWeights" / "config.json").write_text(json.dumps(said))
    with pytest.raises(InteropError, match=r"1_WordWeights/config.json: WordWeights cannot .*\[CLS\] and"):
        import_model(tmp_path / "out", tmp_path / "back", "back")


@pytest.mark.parametrize("preset", ["bert_tiny", "t5_tiny"])
def test_other_pooling_is_told_and_not_written(preset, tmp_path):
    pooling = ["export.pooling=cls"] if preset == "bert_tiny" else []
    written = export_model(bundle(tmp_path, preset, pooling), tmp_path / "out")
    assert not [name for name in written.files if "modules" in name or "Pooling" in name]
    assert [note for note in written.notes if "export.pooling: " in note]


def bundle(folder, preset, overrides=()) -> str:
    """A bundle of a preset with a vocabulary of a few words."""
    small = ["tokenizer.vocabulary_size=300", "model.layers=1", "model.width=16"]
    recipe = load_recipe(preset, [*small, *overrides])
    save_tokenizer(WordPieceTokenizer(PIECES), folder / "tokenizer")
    save_model(build_model(recipe), recipe, folder / "tokenizer", folder / "bundle")
    return str(folder / "bundle")


@pytest.mark.parametrize(
    ("preset", "architecture", "left_out"),
    [
        ("deberta_v3_tiny", "DebertaV2Model", "heads/decision/bias"),
        ("spanbert_tiny", "BertForMaskedLM", "heads/span_boundary_head"),
    ],
)
def test_heads_without_a_class_are_left_out_and_named(preset, architecture, left_out, tmp_path):
    written = export_model(bundle(tmp_path, preset), tmp_path / "out")
    assert config_in(tmp_path / "out")["architectures"] == [architecture]
    assert written.notes[0].startswith(f"left out, since transformers has no place for them: {left_out}")
    # Those of a base model lack the family's name.
    has_heads = any(name.startswith("cls.") for name in tensors_in(tmp_path / "out"))
    assert has_heads == ("embeddings.word_embeddings.weight" not in tensors_in(tmp_path / "out"))


def test_positions_that_are_never_read_follow_the_id_of_padding(tmp_path):
    """Transformers counts RoBERTa's positions from the id of padding, which is 0 here and not 1."""
    path = bundle(tmp_path, "roberta_tiny", ["model.positions.length=24", "sequences.length=24"])
    export_model(path, tmp_path / "out")
    config, table = config_in(tmp_path / "out"), "roberta.embeddings.position_embeddings.weight"
    assert (config["pad_token_id"], config["max_position_embeddings"]) == (0, 25)
    ours = load_model(path).backbone.embeddings.position.table.numpy()
    np.testing.assert_array_equal(tensors_in(tmp_path / "out")[table], ours[1:])


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("bert", {"bos_token_id": "[CLS]"}),
        ("t5", {"decoder_start_token_id": "[PAD]"}),
        (
            "bart",
            {"bos_token_id": "[CLS]", "decoder_start_token_id": "[SEP]", "forced_bos_token_id": "[CLS]"},
        ),
    ],
)
def test_special_tokens_and_the_files(name, starts, tmp_path):
    (tmp_path / "in").mkdir()
    import_model(checkpoint(tmp_path / "in", (), name), tmp_path / "bundle", name)
    written = export_model(tmp_path / "bundle", tmp_path / "out").files
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(written)
    assert all((tmp_path / "out" / file).exists() for file in written)
    wanted = {"pad_token_id": "[PAD]", "eos_token_id": "[SEP]", **starts}
    config = config_in(tmp_path / "out")
    found = {key: value for key, value in config.items() if key.endswith("token_id")}
    assert found == {key: PIECES.index(piece) for key, piece in wanted.items()}


def test_an_end_that_stands_for_padding_is_not_named_as_padding(tmp_path):
    (tmp_path / "in").mkdir()
    path = checkpoint(tmp_path / "in", (), "gpt2")
    (tmp_path / "in" / "tokenizer_config.json").write_text(json.dumps({"pad_token": None}))
    import_model(path, tmp_path / "bundle", "tiny")
    export_model(tmp_path / "bundle", tmp_path / "out")
    assert config_in(tmp_path / "out")["eos_token_id"] == PIECES.index("[SEP]")
    assert "pad_token_id" not in config_in(tmp_path / "out")
    assert "pad_token" not in json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())


def test_float64_goes_out_as_float32(tmp_path):
    given = {name: each.astype("float64") for name, each in tensors_of("bert").items()}
    assert {each.dtype.name for each in tensors_in(round_trip(tmp_path, "bert", given)).values()} == {
        "float32"
    }
    assert config_in(tmp_path / "out")["torch_dtype"] == "float32"


@pytest.mark.parametrize(
    ("name", "head"),
    [("bert", "cls."), ("gpt2", "lm_head."), pytest.param("t5_1_1", "lm_head.", marks=pytest.mark.repeated)],
)
def test_heads_that_nobody_has_trained_stay_unless_they_are_asked_for(name, head, tmp_path):
    missing = {key: None for key in tensors_of(name) if head in key or "pooler" in key}
    if name == "gpt2":
        # An output of its own, which the files lack.
        (tmp_path / "in").mkdir()
        path = checkpoint(tmp_path / "in", missing, name, tie_word_embeddings=False)
        import_model(path, tmp_path / "bundle", name)
        written = export_model(tmp_path / "bundle", tmp_path / "out")
        assert config_in(tmp_path / "out")["architectures"] == ["GPT2Model"]
    elif name == "bert":
        round_trip(tmp_path, name, missing)
        written = export_model(tmp_path / "bundle", tmp_path / "again")
        assert config_in(tmp_path / "out")["architectures"] == ["BertModel"]
    else:
        # Its output is the token table then, and nothing is random.
        round_trip(tmp_path, name, missing)
        notes = export_model(tmp_path / "bundle", tmp_path / "again").notes
        assert not [note for note in notes if "nobody has trained" in note]
        assert config_in(tmp_path / "out")["architectures"] == ["T5ForConditionalGeneration"]
        return
    assert not [key for key in tensors_in(tmp_path / "out") if head in key]
    assert "nobody has trained" in written.notes[0] and "heads=untrained" in written.notes[0]
    export_model(tmp_path / "bundle", tmp_path / "whole", heads="untrained")
    assert [key for key in tensors_in(tmp_path / "whole") if head in key]
    with pytest.raises(InteropError, match="heads: 'all' is not known"):
        export_model(tmp_path / "bundle", tmp_path / "other", heads="all")


def test_albert_with_embeddings_as_wide_as_its_states_keeps_its_projection(tmp_path):
    tensors = tensors_of("albert")
    wide = {key: np.tile(each, 2) for key, each in tensors.items() if each.shape[-1] == 8}
    wide["albert.encoder.embedding_hidden_mapping_in.weight"] = np.tile(
        tensors["albert.encoder.embedding_hidden_mapping_in.weight"], (1, 2)
    )
    dense = {key: each for key, each in tensors.items() if key.startswith("predictions.")}
    wide |= {key: np.concatenate([each] * 2) for key, each in dense.items() if each.shape[:1] == (8,)}
    wide["predictions.dense.weight"] = np.concatenate([tensors["predictions.dense.weight"]] * 2)
    (tmp_path / "in").mkdir()
    path = checkpoint(tmp_path / "in", wide, "albert", embedding_size=16)
    read = import_model(path, tmp_path / "bundle", "albert")
    assert read.fresh == read.surplus == () and read_recipe(tmp_path / "bundle").model.embeddings.projected
    export_model(tmp_path / "bundle", tmp_path / "out")
    assert_same(tensors_in(tmp_path / "out"), {**tensors, **wide})


def test_a_folder_without_a_bundle_is_told(tmp_path):
    with pytest.raises(InteropError, match="is not a model bundle"):
        export_model(tmp_path / "nowhere", tmp_path / "out")


# Families without a golden file.
PRESETS = ("gpt_1_tiny", "spanbert_tiny", "unilm_tiny")


@pytest.mark.parametrize("preset", often(PRESETS, ["gpt_1_tiny", "spanbert_tiny"]))
def test_weights_of_a_preset_go_out_and_come_back(preset, tmp_path):
    path = bundle(tmp_path, preset)
    export_model(path, tmp_path / "out")
    import_model(tmp_path / "out", tmp_path / "back", "back")
    with open_weights(path) as given, open_weights(tmp_path / "back") as back:
        paths = {each for each in given if each.startswith("backbone/")}
        assert paths and paths == {each for each in back if each.startswith("backbone/")}
        assert all(given[each].tobytes() == back[each].tobytes() for each in paths)
