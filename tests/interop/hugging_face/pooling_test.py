"""Pooling settings of sentence-transformers are read, or refused by key."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.pooling import read_embedding, transformer_place
from firth.recipes.training.export import Export
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


def pooling(path):
    return read_embedding(path, TOKENIZER).export.pooling


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "mean_with_special"),
        ({"max_tokens": True}, "max"),
        ({"mean_sqrt_len_tokens": True}, "mean_sqrt_length"),
        ({"weightedmean_tokens": True}, "weighted_mean"),
        ({"lasttoken": True}, "last"),
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
    assert pooling(folder(tmp_path, **said)) == expected


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"best_tokens": True}, "1_Pooling/config.json: pooling_mode_best_tokens cannot be expressed here"),
        ({"mean_tokens": True, "cls_token": True}, "mean and cls at once"),
        (
            {"modules": {"Transformer": "", "Pooling": "1_Pooling", "CNN": "2"}},
            "modules.json: the module CNN cannot be",
        ),
        (
            {"modules": {"Transformer": "", "Dense": "2", "Pooling": "1_Pooling"}},
            "modules.json: the modules Transformer, Dense, Pooling cannot be .* order",
        ),
        (
            {"modules": {"Transformer": "", "Normalize": "2", "Pooling": "1_Pooling"}},
            "modules.json: the modules Transformer, Normalize, Pooling cannot be .* order",
        ),
        ({"modules": {"Transformer": ""}}, "modules.json: there is no module Pooling"),
    ],
)
def test_what_cannot_be_expressed_is_refused(said, error, tmp_path):
    with pytest.raises(InteropError, match=error):
        said = {"mean_tokens": True, **said} if "modules" in said else said
        read_embedding(folder(tmp_path, **said), TOKENIZER)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("mean", "mean_with_special"), (["cls"], "first"), ("lasttoken", "last"), ("best", None)],
)
def test_newer_releases_name_the_mode(mode, expected, tmp_path):
    folder(tmp_path)
    said = {"embedding_dimension": 8, "pooling_mode": mode, "include_prompt": True}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(said))
    if expected is not None:
        assert pooling(tmp_path) == expected
        return
    with pytest.raises(InteropError, match="best cannot be expressed here, mean or cls "):
        pooling(tmp_path)


def test_nothing_is_said_without_the_files(tmp_path):
    assert read_embedding(tmp_path, TOKENIZER).export == Export()


@pytest.mark.parametrize("name", ["modules.json", "1_Pooling/config.json"])
def test_damaged_files_are_named(name, tmp_path):
    (folder(tmp_path, cls_token=True) / name).write_text("[{")
    with pytest.raises(InteropError, match=f"{name}:1:3: is not JSON"):
        pooling(tmp_path)


WHOLE = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
LENGTH, PROMPTS = "sentence_bert_config.json", "config_sentence_transformers.json"


def test_vectors_of_length_one_a_length_and_prompts(tmp_path):
    folder(tmp_path, WHOLE)
    (tmp_path / LENGTH).write_text(json.dumps({"max_seq_length": 7, "do_lower_case": True}))
    prompts = {"prompts": {"query": "query: ", "passage": "passage: ", "plain": ""}}
    (tmp_path / PROMPTS).write_text(json.dumps({**prompts, "default_prompt_name": None}))
    read = read_embedding(tmp_path, TOKENIZER)
    assert (read.export.normalize, read.export.prompt) == (True, "")
    assert (read.length, read.length_key) == (7, f"{LENGTH}: max_seq_length")
    assert len(read.notes) == 1 and "query is 'query: ', passage is 'passage: '" in read.notes[0]
    (tmp_path / PROMPTS).write_text(json.dumps({**prompts, "default_prompt_name": "query"}))
    assert read_embedding(tmp_path, TOKENIZER).export.prompt == "query: "


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (PROMPTS, {"prompts": {}, "default_prompt_name": "query"}, "default_prompt_name: 'query' is not one"),
        (PROMPTS, {"prompts": [1], "default_prompt_name": 0}, "is not one of|another shape"),
        (LENGTH, {"max_seq_length": "7"}, f"{LENGTH}: max_seq_length: '7' is not a number of tokens"),
        (
            LENGTH,
            {"max_seq_length": 7, "transformer_task": "fill-mask"},
            "transformer_task: 'fill-mask' cannot",
        ),
        (LENGTH, {"modality_config": {"image": {}}}, "modality_config: .* cannot be expressed"),
        (LENGTH, {"modality_config": {"text": {"method_output_name": "pooler_output"}}}, "modality_config: "),
        (PROMPTS, {"model_type": "SparseEncoder"}, "model_type: 'SparseEncoder' cannot be expressed"),
    ],
)
def test_other_files_are_read_or_refused_by_key(file, content, message, tmp_path):
    (folder(tmp_path, WHOLE) / file).write_text(json.dumps(content))
    with pytest.raises(InteropError, match=message):
        read_embedding(tmp_path, TOKENIZER)


def test_releases_from_6_on_say_the_length_with_the_tokenizer(tmp_path):
    text = {"method": "forward", "method_output_name": "last_hidden_state"}
    said = {"modality_config": {"text": text}, "transformer_task": "feature-extraction"}
    (folder(tmp_path, WHOLE) / LENGTH).write_text(json.dumps(said))
    for length, expected in ((10, 10), (10**30, None)):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": length}))
        assert read_embedding(tmp_path, TOKENIZER).length == expected


def test_letters_are_made_small_by_the_tokenizer_or_not_at_all(tmp_path):
    (folder(tmp_path, WHOLE) / LENGTH).write_text(json.dumps({"do_lower_case": True}))
    cased = WordPieceTokenizer(TOKENIZER.get_vocabulary(), lowercase=False)
    with pytest.raises(InteropError, match=f"{LENGTH}: do_lower_case: True cannot be expressed"):
        read_embedding(tmp_path, cased)


def test_a_prompt_that_is_left_out_of_the_mean_is_refused(tmp_path):
    folder(tmp_path, WHOLE)
    (tmp_path / PROMPTS).write_text(json.dumps({"prompts": {"a": "b"}, "default_prompt_name": "a"}))
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"include_prompt": False}))
    with pytest.raises(InteropError, match="include_prompt: False cannot be expressed here with a prompt"):
        read_embedding(tmp_path, TOKENIZER)


def test_the_transformer_may_have_a_folder_of_its_own(tmp_path):
    folder(tmp_path, {**WHOLE, "Transformer": "0_Transformer"})
    assert transformer_place(tmp_path) == "0_Transformer"
    folder_of_others = [{"type": PACKAGE + "Transformer", "path": "../other"}]
    (tmp_path / "modules.json").write_text(json.dumps(folder_of_others))
    with pytest.raises(InteropError, match=r"path: '\.\./other' is not in the folder"):
        transformer_place(tmp_path)
