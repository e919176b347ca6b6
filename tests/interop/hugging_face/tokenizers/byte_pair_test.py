"""Byte-level BPE in Hugging Face's formats: roles, settings, and what is refused."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer, write_tokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SpecialPieces
from tests.interop.hugging_face.tokenizers.trained import named_ids

END = "<|endoftext|>"
PIECES = [*byte_pieces(), "Ġf", "ox", "Ġfox", END]
MERGES = ["Ġ f", "o x", "Ġf ox"]
IDS = {piece: index for index, piece in enumerate(PIECES)}
LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
REPLACE = {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}
MASK = {"id": 260, "content": "<mask>", "special": True, "lstrip": True, "normalized": False}


def write(folder, model=(), pre_tokenizer=(), added=(), **parts):
    content = {
        "added_tokens": [{"id": IDS[END], "content": END, "special": True}, *added],
        "pre_tokenizer": {**LEVEL, **dict(pre_tokenizer)},
        "model": {"type": "BPE", "vocab": IDS, "merges": MERGES, **dict(model)},
        **parts,
    }
    (folder / "tokenizer.json").write_text(json.dumps(content))
    return folder


def write_older(folder, merges=("#version: 0.2", *MERGES), ids=IDS, **said):
    (folder / "vocab.json").write_text(json.dumps(ids))
    (folder / "merges.txt").write_text("".join(f"{merge}\n" for merge in merges))
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    return folder


@pytest.mark.parametrize("merges", [MERGES, [merge.split() for merge in MERGES]])
def test_merges_in_the_order_of_ids_are_not_kept_apart(tmp_path, merges):
    tokenizer = read_tokenizer(write(tmp_path, {"merges": merges}))
    assert tokenizer.merges == ()
    assert tokenizer.specials == SpecialPieces(END, END, END, END, None, spaces_before="none")
    assert named_ids(tokenizer, [f" fox{END}ox"])[0] == [258, 259, 257]


def test_merges_in_another_order_are_kept(tmp_path):
    swapped = {**IDS, "Ġf": IDS["ox"], "ox": IDS["Ġf"]}
    assert read_tokenizer(write(tmp_path, {"vocab": swapped})).merges == tuple(MERGES)


@pytest.mark.parametrize(("ignored", "ids"), [(False, [256, 257]), (True, [258])])
def test_a_piece_that_no_merge_makes_is_given_for_a_whole_word_alone(tmp_path, ignored, ids):
    tokenizer = read_tokenizer(write(tmp_path, {"merges": MERGES[:2], "ignore_merges": ignored}))
    assert tokenizer.tokenize([" fox", " foxox"]).to_list() == [ids, [256, 257, 257]]


def test_a_mask_that_is_only_named_includes_the_spaces_before_it(tmp_path):
    tokenizer = read_tokenizer(write_older(tmp_path, ids={**IDS, "<mask>": 260}, mask_token="<mask>"))
    assert named_ids(tokenizer, ["ox  <mask>"])[0] == [257, 260]


@pytest.mark.parametrize(("strips", "before"), [(True, []), (False, [220, 220])])
def test_a_mask_that_is_described(tmp_path, strips, before):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"mask_token": "<mask>"}))
    tokenizer = read_tokenizer(write(tmp_path, added=[{**MASK, "lstrip": strips}]))
    assert named_ids(tokenizer, ["ox  <mask>"])[0] == [257, *before, 260]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": {"dropout": 0.1}}, r"model.dropout: 0.1 cannot be expressed here, None or 0.0 can"),
        ({"model": {"end_of_word_suffix": "</w>"}}, "end_of_word_suffix: '</w>' cannot be expressed"),
        ({"model": {"byte_fallback": True}}, "byte_fallback: True cannot be expressed"),
        ({"model": {"vocab": {**IDS, "x y": 999}}}, "there is no piece of id 260"),
        ({"model": {"vocab": {"a": 0, END: 1}, "merges": []}}, "has the id 259, and 1 in the vocabulary"),
        ({"model": {"merges": ["Ġ fo"]}}, "merges: merge 1: 'Ġ fo': 'fo' is not in the vocabulary"),
        ({"model": {"merges": ["Ġf ox"]}}, "merges: merge 1: 'Ġf ox': 'Ġf' is made by no merge before"),
        ({"pre_tokenizer": {"add_prefix_space": True}}, "pre_tokenizer.add_prefix_space: True cannot"),
        ({"pre_tokenizer": {"use_regex": False}}, "pre_tokenizer.use_regex: False cannot"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer: Whitespace cannot be expressed"),
        ({"normalizer": {"type": "Lowercase"}}, "normalized: False cannot be expressed"),
        ({"normalizer": REPLACE}, "normalized: False cannot be expressed"),
        ({"added": [{**MASK, "rstrip": True}]}, "'<mask>': rstrip: True cannot be expressed"),
        ({"added": [{**MASK, "content": "<s>"}]}, "'<s>': lstrip: True cannot be expressed"),
    ],
)
def test_what_cannot_be_expressed_is_refused(tmp_path, changed, message):
    with pytest.raises(InteropError, match=message):
        read_tokenizer(write(tmp_path, **changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"merges": ["#version: 0.2", *MERGES, "f x y"]}, r"merges.txt:5: 'f x y' is not two pieces"),
        ({"merges": [*MERGES, "f o"]}, r"merges.txt:4: 'f o': 'fo' is not in the vocabulary"),
        ({"ids": {**IDS, "fo": 999}}, r"vocab.json: ids: .* there is no piece of id 260"),
        ({"add_prefix_space": True}, "add_prefix_space: True cannot be expressed"),
        ({"bos_token": "<|end|>"}, r"bos_token: '<\|end\|>' is not in the vocabulary; .*endoftext"),
    ],
)
def test_older_files_that_do_not_fit(tmp_path, changed, message):
    with pytest.raises(InteropError, match=message):
        read_tokenizer(write_older(tmp_path, **changed))


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_a_missing_file_is_named(tmp_path, name):
    (write_older(tmp_path) / name).unlink()
    with pytest.raises(InteropError, match=f"holds no {name}"):
        read_tokenizer(tmp_path)


def test_a_normalizer_of_all_text_is_read(tmp_path):
    end = {"id": IDS[END], "content": END, "special": True, "normalized": True}
    source = write(tmp_path, normalizer=REPLACE, added_tokens=[end])
    tokenizer = read_tokenizer(source)
    assert tokenizer.normalization_steps == (("a+", "b"),)
    write_tokenizer(tokenizer, tmp_path)
    assert read_tokenizer(tmp_path).digest == tokenizer.digest


def test_a_split_by_another_pattern_is_refused_with_the_pattern(tmp_path):
    split = {"type": "Split", "pattern": {"Regex": "(?i:'s)|[0-9]{1,3}"}, "behavior": "Isolated"}
    said = {
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "ByteLevel"}]},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(said))
    with pytest.raises(InteropError, match=r"pretokenizers\[0\]: Split by .*\[0-9\]\{1,3\}.* cannot be"):
        read_tokenizer(tmp_path)
