"""WordPiece in Hugging Face's formats, and what is refused."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer
from firth.tokenizers.graph.special_pieces import SpecialPieces
from tests.interop.hugging_face.tokenizers.trained import named_ids

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "cat", "##s", "é", "e"]
NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": False}
MODEL = {
    "type": "WordPiece",
    "continuing_subword_prefix": "##",
    "unk_token": "[UNK]",
    "max_input_chars_per_word": 50,
}


def added(content, index, **marks):
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": index, "content": content, **plain, **marks}


def write(folder, model=(), normalizer=(), **parts):
    content = {
        "model": {**MODEL, "vocab": {piece: place for place, piece in enumerate(PIECES)}, **dict(model)},
        "normalizer": {**NORMALIZER, **dict(normalizer)},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        **parts,
    }
    (folder / "tokenizer.json").write_text(json.dumps(content))
    return folder


def settings(folder, **said):
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    return folder


def test_the_newer_file_comes_first(tmp_path):
    (tmp_path / "vocab.txt").write_text("not read\n")
    tokenizer = read_tokenizer(write(tmp_path))
    assert (tokenizer.lowercase, tokenizer.max_word_characters) == (False, 50)
    assert tokenizer.tokenize("The cats é").numpy().tolist() == [6, 7, 8, 9]
    assert tokenizer.specials == SpecialPieces()


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_older_files(tmp_path, lowercase):
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    settings(tmp_path, do_lower_case=lowercase)
    ids = read_tokenizer(tmp_path).tokenize("The cats é").numpy().tolist()
    assert ids == ([5, 7, 8, 10] if lowercase else [6, 7, 8, 9])


def test_added_tokens_and_the_roles_that_the_settings_give(tmp_path):
    more = [added("<s>", 11), added("<mask>", 12, lstrip=True), added("<e>", 13)]
    settings(write(tmp_path, added_tokens=more), cls_token="<s>", mask_token={"content": "<mask>"})
    tokenizer = read_tokenizer(tmp_path)
    assert tokenizer.specials == SpecialPieces(cls="<s>", mask="<mask>", others=("<e>",))
    assert named_ids(tokenizer, ["<s>The<mask> cats<e>"])[0] == [11, 6, 12, 7, 8, 13]
    assert (tokenizer.cls_id, tokenizer.mask_id) == (11, 12)


def test_added_tokens_of_the_older_files(tmp_path):
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<mask>": 11, "<e>": 12}))
    (tmp_path / "special_tokens_map.json").write_text(
        json.dumps({"mask_token": "<mask>", "additional_special_tokens": ["<e>"]})
    )
    tokenizer = read_tokenizer(tmp_path)
    assert tokenizer.specials == SpecialPieces(mask="<mask>", others=("<e>",))
    assert named_ids(tokenizer, ["cat<mask><e>"])[0] == [7, 11, 12]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"model": {"type": "WordPieces"}},
            "model.type: 'WordPieces' cannot be read; did you mean Word",
        ),
        (
            {"model": {"continuing_subword_prefix": "@@"}},
            "continuing_subword_prefix: '@@' cannot be expressed",
        ),
        ({"model": {"vocab": {"a": 0, "b": 20}}}, "ids are not 0 to 1, each once: there is no piece of id 1"),
        ({"model": {"vocab": {"a": 0, "b": 0}}}, "'a' and 'b' have the same id, 0"),
        ({"model": {"vocab": {"[UNK]": 0, "b": 1}}}, "neither sep_token nor eos_token"),
        ({"model": {"max_input_chars_per_word": 4}}, "max_word_characters: 4 is below 8"),
        (
            {"normalizer": {"strip_accents": True}},
            r"normalizer.strip_accents: True differs from lowercase",
        ),
        ({"normalizer": {"clean_text": False}}, "normalizer.clean_text: False cannot be expressed"),
        ({"normalizer": {"handle_chinese_chars": False}}, "handle_chinese_chars: False cannot be expressed"),
        ({"normalizer": {"type": "Lowercase"}}, "normalizer.type: 'Lowercase' cannot be expressed"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer.type: 'Whitespace'"),
        ({"added_tokens": [added("[CLS]", 3)]}, r"'\[CLS\]' has the id 3, and 2 in the vocabulary"),
        ({"added_tokens": [added("<e>", 11, normalized=True)]}, "'<e>': normalized: True cannot be"),
        ({"added_tokens": [added("<e>", 11, special=False)]}, "'<e>': special: False cannot be"),
        ({"added_tokens": [{"id": 3}]}, "added_tokens: a token without 'content'"),
    ],
)
def test_what_cannot_be_expressed_is_refused(tmp_path, changed, message):
    with pytest.raises(InteropError, match=message):
        read_tokenizer(write(tmp_path, **changed))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"do_basic_tokenize": False}, "do_basic_tokenize: False cannot be expressed"),
        ({"never_split": ["cat"]}, r"never_split: \['cat'\] cannot be expressed"),
        ({"strip_accents": False}, "strip_accents: False differs from do_lower_case: True"),
        ({"mask_token": "[MARK]"}, r"mask_token: '\[MARK\]' is not in the vocabulary; .* '\[MASK\]'"),
    ],
)
def test_settings_that_cannot_be_expressed_are_refused(tmp_path, said, message):
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    with pytest.raises(InteropError, match=message):
        read_tokenizer(settings(tmp_path, **said))


@pytest.mark.parametrize(
    ("text", "cat"),
    [
        ("{}", 7),
        ("\ufeff{}", 7),
        ("{}\n", 7),
        ("{}cat\n", 11),
        ("{}the  \n\n", 7),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_read_as_transformers_reads_them(tmp_path, text, end, cat):
    """The last line of a piece is its id; an empty line is a piece that no text becomes."""
    whole = text.format("".join(f"{piece}\n" for piece in PIECES)).replace("\n", end)
    (tmp_path / "vocab.txt").write_bytes(whole.encode())
    tokenizer = read_tokenizer(tmp_path)
    assert named_ids(tokenizer, ["cat [MASK]"])[0] == [cat, 4]
    assert tokenizer.vocabulary_size() == whole.removesuffix(end).count(end) + 1


def test_settings_that_contradict_the_tokenizer_are_refused(tmp_path):
    with pytest.raises(InteropError, match=r"tokenizer_config.do_lower_case: True cannot be .*, False can"):
        read_tokenizer(settings(write(tmp_path), do_lower_case=True))
