"""Files of strangers: pipes and devices, JSON without an end, values of another shape, each in a sentence."""

import json
import os
import socket

import pytest

from firth.interop.elmo import import_model as import_elmo
from firth.interop.errors import InteropError
from firth.interop.hugging_face import import_model
from firth.interop.keras_hub import import_model as import_preset
from firth.interop.peft import load_adapter
from firth.interop.untrusted_files import check_file, read_json
from firth.tokenizers.graph.sentencepiece_model import LONGEST_PIECE, ModelProto, parse_model
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.interop.hugging_face.tokenizers.sentence_piece_shapes import t5

DEEP = 1000


def deep(opening: str, closing: str) -> str:
    return f"{opening * DEEP}1{closing * DEEP}"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    checkpoint(tmp_path / "in")
    return tmp_path / "in"


def refused(folder, message):
    with pytest.raises(InteropError, match=message) as caught:
        import_model(folder, folder.parent / "bundle", "tiny")
    assert "\n" not in str(caught.value) and not (folder.parent / "bundle").exists()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"])
def test_a_pipe_is_not_read(name, folder):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    refused(folder, f"{name} cannot be read: it is a pipe")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "modules.json"])
def test_a_device_and_a_folder_are_not_read(name, folder):
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("/dev/zero")
    refused(folder, f"{name} cannot be read: it is a device")
    (folder / name).unlink()
    (folder / name).mkdir()
    refused(folder, f"{name} cannot be read: it is a folder")


def test_a_shard_is_a_file_of_the_folder(folder):
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "/dev/zero"}}))
    refused(folder, "index.json: '/dev/zero' is not a file of the folder")


def test_sockets_and_sizes(tmp_path):
    (tmp_path / "text").write_text("1234")
    assert read_json(str(tmp_path / "text")) == 1234
    with pytest.raises(InteropError, match="text cannot be read: it has 4 bytes, more than 3"):
        check_file(str(tmp_path / "text"), most=3)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s"))
        with pytest.raises(InteropError, match="s cannot be read: it is a socket"):
            check_file(str(tmp_path / "s"))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "modules.json"])
@pytest.mark.parametrize("text", [deep("[", "]"), deep('{"a": ', "}"), "[" * 100_000])
def test_deep_json_is_named(name, text, folder):
    (folder / name).write_text(text)
    refused(folder, rf"{name}(:\d+:\d+)?: (nests deeper than 64 levels|is not JSON)")


def test_long_numbers_are_named(folder):
    (folder / "config.json").write_text(f'{{"model_type": "bert", "hidden_size": {"9" * 5000}}}')
    refused(folder, r"config\.json: is not JSON: Exceeds the limit")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", {"model_type": ["bert"]}, r"config.json: model_type: \['bert'\] is not known"),
        ("config.json", {"model_type": {"a": 1}}, "config.json: model_type: "),
        ("tokenizer.json", {"model": {"type": ["WordPiece"]}}, "tokenizer.json: model.type: "),
        (
            "tokenizer.json",
            {
                "model": {"type": "WordPiece", "vocab": {"a": 0}},
                "normalizer": {"type": "Sequence", "normalizers": [1]},
            },
            "tokenizer.json: ",
        ),
        (
            "tokenizer.json",
            {"model": {"type": "WordPiece", "vocab": {"a": 0}}, "added_tokens": 7},
            "tokenizer.json: ",
        ),
        (
            "tokenizer_config.json",
            {"cls_token": [1], "added_tokens_decoder": [1]},
            "holds a value of another",
        ),
        ("modules.json", {"type": 1}, "modules.json"),
        ("modules.json", 7, "modules.json"),
        ("generation_config.json", [1], "generation_config.json: must hold a mapping"),
    ],
)
def test_values_of_another_shape(name, content, message, folder):
    (folder / name).write_text(json.dumps(content))
    refused(folder, message)


@pytest.mark.parametrize(
    "said",
    [
        {"hidden_size": [1]},
        {"num_hidden_layers": "2"},
        {"hidden_act": {"a": 1}},
        {"layer_norm_eps": "x"},
        {"vocab_size": [40]},
        {"max_position_embeddings": None, "hidden_size": None, "num_attention_heads": {}},
        {"pad_token_id": [1], "type_vocab_size": [2]},
        {"architectures": 7, "eos_token_id": {"a": 1}, "hidden_size": "wide"},
    ],
)
def test_values_of_a_configuration_that_are_none(said, folder):
    checkpoint(folder, **said)
    refused(folder, "config.json: ")


def test_a_piece_that_would_end_the_process(folder):
    model = parse_model(t5()[0])
    model.pieces[50].piece = "x" * 300_000
    (folder / "vocab.txt").unlink()
    (folder / "spiece.model").write_bytes(model.SerializeToString())
    refused(
        folder, rf"spiece.model: pieces\[50\]: 'xxxxxxxxxx' and so on has more than {LONGEST_PIECE} bytes"
    )
    (folder / "spiece.model").unlink()
    content = json.loads(t5()[1].to_str())
    content["model"]["vocab"][50][0] = "x" * 300_000
    (folder / "tokenizer.json").write_text(json.dumps(content))
    refused(folder, r"tokenizer.json: model.vocab\[50\]: 'xxxxxxxxxx' and so on")
    made = ModelProto()
    made.pieces.add(piece="y" * LONGEST_PIECE)
    assert len(parse_model(made.SerializeToString()).pieces) == 1


def test_files_of_other_formats(tmp_path):
    for name in ("options.json", "config.json", "adapter_config.json"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "weights.hdf5").write_bytes(b"")
    with pytest.raises(InteropError, match=r"options\.json cannot be read: it is a pipe"):
        import_elmo(tmp_path, tmp_path / "bundle", "elmo")
    with pytest.raises(InteropError, match=r"config\.json cannot be read: it is a pipe"):
        import_preset(tmp_path, tmp_path / "bundle", "preset")
    (tmp_path / "base").mkdir()
    import_model(checkpoint(tmp_path / "base"), tmp_path / "tiny", "tiny")
    with pytest.raises(InteropError, match=r"adapter_config\.json cannot be read: it is a pipe"):
        load_adapter(tmp_path, tmp_path / "tiny")
