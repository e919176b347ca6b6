"""How sentence-transformers pools is read, or refused by its key."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.pooling import read_pooling
from firth.tokenizers import WordPieceTokenizer

PACKAGE = "sentence_transformers.models."
TOKENIZER = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])


def folder(path, modules=None, place="1_Pooling", **pooling):
    (path / place).mkdir()
    said = {"word_embedding_dimension": 8, **{f"pooling_mode_{key}": value for key, value in pooling.items()}}
    (path / place / "config.json").write_text(json.dumps(said))
    if modules is not None:
        listed = [{"type": PACKAGE + kind, "path": where} for kind, where in modules.items()]
        (path / "modules.json").write_text(json.dumps(listed))
    return path


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "mean_with_special"),
        ({"mean_tokens": True, "cls_token": False}, "mean_with_special"),
        ({"cls_token": True}, "first"),
        (
            {"modules": {"Transformer": "", "Pooling": "2_Pool", "Normalize": "3"}, "place": "2_Pool"}
            | {"cls_token": True},
            "first",
        ),
    ],
)
def test_poolings(said, expected, tmp_path):
    assert read_pooling(folder(tmp_path, **said), TOKENIZER) == expected


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"max_tokens": True}, "1_Pooling/config.json: pooling_mode_max_tokens cannot be expressed here"),
        ({"mean_tokens": True, "cls_token": True}, "mean and cls at once"),
        ({"modules": {"Pooling": "1_Pooling", "Dense": "2"}}, "modules.json: the module Dense cannot be"),
    ],
)
def test_what_cannot_be_expressed_is_refused(said, error, tmp_path):
    with pytest.raises(InteropError, match=error):
        said = {"mean_tokens": True, **said} if "modules" in said else said
        read_pooling(folder(tmp_path, **said), TOKENIZER)


@pytest.mark.parametrize(
    ("mode", "expected"), [("mean", "mean_with_special"), (["cls"], "first"), ("lasttoken", None)]
)
def test_newer_releases_name_the_mode(mode, expected, tmp_path):
    folder(tmp_path)
    said = {"embedding_dimension": 8, "pooling_mode": mode, "include_prompt": True}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(said))
    if expected is not None:
        assert read_pooling(tmp_path, TOKENIZER) == expected
        return
    with pytest.raises(InteropError, match="lasttoken cannot be expressed here, mean or cls can"):
        read_pooling(tmp_path, TOKENIZER)


def test_nothing_is_said_without_the_files(tmp_path):
    assert read_pooling(tmp_path, TOKENIZER) == "mean"


@pytest.mark.parametrize("name", ["modules.json", "1_Pooling/config.json"])
def test_damaged_files_are_named(name, tmp_path):
    (folder(tmp_path, cls_token=True) / name).write_text("[{")
    with pytest.raises(InteropError, match=f"{name}:1:3: is not JSON"):
        read_pooling(tmp_path, TOKENIZER)
