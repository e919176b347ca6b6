"""WordPiece in Hugging Face's formats, and what is refused."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "cat", "##s", "é", "e"]
NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": False}
MODEL = {
    "type": "WordPiece",
    "continuing_subword_prefix": "##",
    "unk_token": "[UNK]",
    "max_input_chars_per_word": 50,
}


def write(folder, model=(), normalizer=(), **parts):
    content = {
        "model": {**MODEL, "vocab": {piece: place for place, piece in enumerate(PIECES)}, **dict(model)},
        "normalizer": {**NORMALIZER, **dict(normalizer)},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        **parts,
    }
    (folder / "tokenizer.json").write_text(json.dumps(content))
    return folder


def test_the_newer_file_comes_first(tmp_path):
    (tmp_path / "vocab.txt").write_text("not read\n")
    tokenizer = read_tokenizer(write(tmp_path))
    assert (tokenizer.lowercase, tokenizer.max_word_characters) == (False, 50)
    assert tokenizer.tokenize("The cats é").numpy().tolist() == [6, 7, 8, 9]


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_older_files(tmp_path, lowercase):
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase}))
    ids = read_tokenizer(tmp_path).tokenize("The cats é").numpy().tolist()
    assert ids == ([5, 7, 8, 10] if lowercase else [6, 7, 8, 9])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": {"type": "BPE"}}, "model.type: 'BPE' is not read yet"),
        (
            {"model": {"continuing_subword_prefix": "@@"}},
            "continuing_subword_prefix: '@@' cannot be expressed",
        ),
        ({"model": {"vocab": {"a": 0, "b": 2}}}, "ids are not 0 to 1"),
        ({"model": {"vocab": {"a": 0, "b": 1}}}, r"\[PAD\]"),
        ({"normalizer": {"strip_accents": True}}, "strip_accents: differs from lowercase"),
        ({"normalizer": {"clean_text": False}}, "normalizer.clean_text: False cannot be expressed"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer.type: 'Whitespace'"),
    ],
)
def test_what_cannot_be_expressed_is_refused(tmp_path, changed, message):
    with pytest.raises(InteropError, match=message):
        read_tokenizer(write(tmp_path, **changed))


def test_a_folder_without_a_tokenizer(tmp_path):
    with pytest.raises(InteropError, match=r"holds neither tokenizer.json nor vocab.txt"):
        read_tokenizer(tmp_path)
