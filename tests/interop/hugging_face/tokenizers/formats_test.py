"""Folders that hold no tokenizer, or a damaged one."""

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer


def test_a_folder_without_a_tokenizer(tmp_path):
    with pytest.raises(InteropError, match=r"holds neither tokenizer.json nor vocab.txt"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"model":\n  {', r"tokenizer.json:2:4: is not JSON"),
        ("[]", "must hold a mapping"),
        ("{}", "holds no model"),
        ('{"model": {"type": 3}}', "model.type: 3 cannot be read; one of: .*WordPiece"),
        ('{"model": {"type": "WordPiece", "vocab": []}}', "normalizer.type: None"),
    ],
)
def test_a_broken_file(tmp_path, text, message):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(InteropError, match=message):
        read_tokenizer(tmp_path)


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InteropError, match=r"tokenizer.json: is not UTF-8"):
        read_tokenizer(tmp_path)
