"""Saves and loads tokenizers: `vocab.txt`, `tokenizer.json`, SentencePiece's model. Loading checks them."""

import json
import os
import pathlib
import shutil
import tempfile
from typing import Any

from firth.tokenizers.byte_pair import BytePairTokenizer
from firth.tokenizers.sentence_piece import SentencePieceTokenizer
from firth.tokenizers.word import WordTokenizer
from firth.tokenizers.word_piece import WordPieceTokenizer

AnyTokenizer = WordPieceTokenizer | BytePairTokenizer | SentencePieceTokenizer | WordTokenizer
# By what `tokenizer.json` gives as `kind`. Each has `settings`, which with a vocabulary make it again;
# SentencePiece's are made of its model.
_OF_PIECES: dict[str, type[WordPieceTokenizer] | type[BytePairTokenizer] | type[WordTokenizer]] = {
    WordPieceTokenizer.kind: WordPieceTokenizer,
    BytePairTokenizer.kind: BytePairTokenizer,
    WordTokenizer.kind: WordTokenizer,
}
KINDS = (*_OF_PIECES, SentencePieceTokenizer.kind)

VOCABULARY_FILE = "vocab.txt"
MODEL_FILE = "sentencepiece.model"
SETTINGS_FILE = "tokenizer.json"
_OWN_KEYS = ("kind", "digest", "golden")

# Read again at each load, so that a change of kernel, library or normalisation cannot pass unseen.
_GOLDEN_TEXTS = (
    "",
    "The quick brown fox jumps over the lazy dog.",
    "It's 3.14% of $1,000 (or ~£800)…",
    "Ünïcödé naïveté, e\u0301 and É; ﬁn, Straße, ΣΊΣΥΦΟΣ, İstanbul",
    "中文和English混排 ひらがな 한국어 ภาษาไทย العربية עברית",
    "tab\tnbsp\u00a0zero\u200bwidth\u0000nul\ufffd\ufeff soft\u00adhyphen",
    "[CLS] a [MASK]ed[SEP] [mask] [PAD][UNK]",
    "👩‍👩‍👧 👍🏽 🇪🇺",
    "x" * 101 + " " + "ю" * 100,
)


class TokenizerMismatchError(ValueError):
    """A tokenizer on disk that is not the expected one, or gives other ids than when it was saved."""


def _read_golden(tokenizer: AnyTokenizer) -> list[dict[str, Any]]:
    ids = tokenizer.tokenize(list(_GOLDEN_TEXTS)).to_list()
    return [{"text": text, "ids": row} for text, row in zip(_GOLDEN_TEXTS, ids)]


def save_tokenizer(tokenizer: AnyTokenizer, directory: str | os.PathLike[str]) -> str:
    """Writes a tokenizer with golden id vectors, and returns its digest.

    The directory appears whole or not at all: files are written to a sibling, which then takes its name.

    Args:
        tokenizer: Tokenizer to write.
        directory: Folder that does not exist yet, or is empty.

    Raises:
        FileExistsError: if there are files in the directory.

    Example:

    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fox"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     digest = save_tokenizer(tokenizer, f"{folder}/saved")
    ...     load_tokenizer(f"{folder}/saved", expected_digest=digest).tokenize("fox").numpy().tolist()
    [5]
    """
    target = pathlib.Path(directory)
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(
            f"{target} holds files already; a tokenizer is saved into a directory of its own"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _write(tokenizer, temporary)
        temporary.chmod(0o755)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return tokenizer.digest


def _write(tokenizer: AnyTokenizer, folder: pathlib.Path) -> None:
    lines = "".join(f"{piece}\n" for piece in tokenizer.get_vocabulary())
    (folder / VOCABULARY_FILE).write_text(lines, encoding="utf-8", newline="\n")
    if isinstance(tokenizer, SentencePieceTokenizer):
        (folder / MODEL_FILE).write_bytes(tokenizer.model)
    settings = {
        "kind": tokenizer.kind,
        **tokenizer.settings,
        "digest": tokenizer.digest,
        "golden": _read_golden(tokenizer),
    }
    (folder / SETTINGS_FILE).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def load_tokenizer(directory: str | os.PathLike[str], expected_digest: str | None = None) -> AnyTokenizer:
    """Reads a tokenizer that `save_tokenizer` wrote, and checks it.

    Args:
        directory: Folder that `save_tokenizer` wrote.
        expected_digest: Digest that the tokenizer must have, that of the tokenizer a model was made with;
            None for any.

    Raises:
        FileNotFoundError: if one of the files is missing.
        TokenizerMismatchError: if the files were changed, the digest is not the expected one, or a golden
            text gives other ids than it did when the tokenizer was saved.
    """
    folder = pathlib.Path(directory)
    settings = _read_settings(folder / SETTINGS_FILE)
    # str.splitlines would also split at U+2028 and its like.
    pieces = (folder / VOCABULARY_FILE).read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    try:
        tokenizer = _make(settings, pieces, folder)
    except (ValueError, TypeError) as error:
        raise TokenizerMismatchError(f"{folder / VOCABULARY_FILE}: {error}") from error
    if tokenizer.get_vocabulary() != pieces:
        raise TokenizerMismatchError(f"{folder}: {VOCABULARY_FILE} is not the vocabulary of {MODEL_FILE}")
    _check(tokenizer, settings, folder)
    if expected_digest is not None and tokenizer.digest != expected_digest:
        raise TokenizerMismatchError(
            f"{folder}: the tokenizer's digest is {tokenizer.digest}, expected {expected_digest}"
        )
    return tokenizer


def _read_settings(path: pathlib.Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TokenizerMismatchError(f"{path} is not valid JSON: {error}") from error
    for key in _OWN_KEYS:
        if key not in settings:
            raise TokenizerMismatchError(f"{path} has no key {key!r}")
    if settings["kind"] not in KINDS:
        known = " or ".join(map(repr, KINDS))
        raise TokenizerMismatchError(f"{path}: kind is {settings['kind']!r}, expected {known}")
    return settings


def _make(settings: dict[str, Any], pieces: list[str], folder: pathlib.Path) -> AnyTokenizer:
    if settings["kind"] == SentencePieceTokenizer.kind:
        return SentencePieceTokenizer((folder / MODEL_FILE).read_bytes(), **_made_with(settings))
    return _OF_PIECES[settings["kind"]](pieces, **_made_with(settings))


def _made_with(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in _OWN_KEYS}


def _check(tokenizer: AnyTokenizer, settings: dict[str, Any], folder: pathlib.Path) -> None:
    if tokenizer.digest != settings["digest"]:
        raise TokenizerMismatchError(
            f"{folder}: vocabulary, settings or normalisation give the digest {tokenizer.digest}, "
            f"but {SETTINGS_FILE} says {settings['digest']}"
        )
    golden = settings["golden"]
    found = tokenizer.tokenize([row["text"] for row in golden]).to_list()
    for row, ids in zip(golden, found):
        if ids != row["ids"]:
            raise TokenizerMismatchError(
                f"{folder}: {row['text']!r} gives {ids}, but gave {row['ids']} when saved"
            )
