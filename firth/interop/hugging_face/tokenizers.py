"""Tokenizers in Hugging Face's formats."""

import json
import os
from typing import Any

from firth import storage
from firth.interop.errors import InteropError
from firth.tokenizers import WordPieceTokenizer

TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILE = "tokenizer_config.json"
VOCABULARY_FILE = "vocab.txt"
_NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}


def read_tokenizer(path: str | os.PathLike[str]) -> WordPieceTokenizer:
    """Returns the tokenizer of a folder: of `tokenizer.json`, or of `vocab.txt` where that is missing.

    Only WordPiece as BERT has it is read; what it cannot say is refused.

    Args:
        path: Path of the folder, on this machine or with a scheme.

    Raises:
        InteropError: if there is no tokenizer, or one that cannot be expressed here exactly.
    """
    folder = os.fspath(path)
    if storage.exists(os.path.join(folder, TOKENIZER_FILE)):
        return _of_json(os.path.join(folder, TOKENIZER_FILE))
    if storage.exists(os.path.join(folder, VOCABULARY_FILE)):
        return _of_vocabulary(folder)
    raise InteropError(f"{folder} holds neither {TOKENIZER_FILE} nor {VOCABULARY_FILE}")


def _of_json(file: str) -> WordPieceTokenizer:
    content = json.loads(storage.read_text(file))
    model, normalizer = content.get("model") or {}, content.get("normalizer") or {}
    if model.get("type") != "WordPiece":
        raise InteropError(f"{file}: model.type: {model.get('type')!r} is not read yet; 'WordPiece' is")
    _require(file, "model", model, {"continuing_subword_prefix": "##", "unk_token": "[UNK]"})
    _require(file, "normalizer", normalizer, _NORMALIZER)
    lowercase = bool(normalizer.get("lowercase"))
    # Accents go where letters become small ones, unless it is said otherwise.
    if normalizer.get("strip_accents") not in (None, lowercase):
        raise InteropError(f"{file}: normalizer.strip_accents: differs from lowercase: {lowercase}")
    if (kind := (content.get("pre_tokenizer") or {}).get("type")) != "BertPreTokenizer":
        raise InteropError(f"{file}: pre_tokenizer.type: {kind!r} cannot be expressed here")
    pieces = _in_order(file, model["vocab"])
    return _made(file, pieces, lowercase, model.get("max_input_chars_per_word", 100))


def _require(file: str, part: str, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for key, value in wanted.items():
        if found.get(key) != value:
            raise InteropError(
                f"{file}: {part}.{key}: {found.get(key)!r} cannot be expressed here, {value!r} can"
            )


def _in_order(file: str, vocabulary: dict[str, int]) -> list[str]:
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[piece] for piece in pieces] != list(range(len(pieces))):
        raise InteropError(f"{file}: model.vocab: ids are not 0 to {len(pieces) - 1}, each once")
    return pieces


def _of_vocabulary(folder: str) -> WordPieceTokenizer:
    settings = storage.read_json(os.path.join(folder, SETTINGS_FILE)) or {}
    file = os.path.join(folder, VOCABULARY_FILE)
    text = storage.read_text(file)
    # Only this ends a line: pieces may hold any other line end of Unicode.
    pieces = text.removesuffix("\n").split("\n")
    return _made(file, pieces, settings.get("do_lower_case", True), 100)


def _made(file: str, pieces: list[str], lowercase: bool, longest: int) -> WordPieceTokenizer:
    try:
        return WordPieceTokenizer(pieces, lowercase=lowercase, max_word_characters=longest)
    except ValueError as error:
        raise InteropError(f"{file}: {error}") from error
