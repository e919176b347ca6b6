"""Saves and loads tokenizers: `vocab.txt`, `tokenizer.json`, SentencePiece's model. Loading checks them."""

import dataclasses
import functools
import json
import os
from typing import Any, cast

from firth import storage
from firth.tokenizers.piece_tokenizer import PieceTokenizer
from firth.tokenizers.tokenizer_kinds import TOKENIZERS
from firth.tokenizers.word import WordTokenizer

AnyTokenizer = PieceTokenizer | WordTokenizer

VOCABULARY_FILE = "vocab.txt"
SETTINGS_FILE = "tokenizer.json"
_OWN_KEYS = ("kind", "digest", "golden")
# A run reads the same tokenizer in each of its components.
_KEPT = 4

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


def _ids_of(tokenizer: AnyTokenizer, texts: list[str]) -> list[list[int]]:
    """Returns the ids of texts in which all special pieces are read, so that their search is checked."""
    return tokenizer.tokenize(texts, specials=tokenizer.special_pieces).to_list()


def _read_golden(tokenizer: AnyTokenizer) -> list[dict[str, Any]]:
    ids = _ids_of(tokenizer, list(_GOLDEN_TEXTS))
    return [{"text": text, "ids": row} for text, row in zip(_GOLDEN_TEXTS, ids)]


def save_tokenizer(tokenizer: AnyTokenizer, directory: str | os.PathLike[str]) -> str:
    """Writes a tokenizer with golden id vectors, and returns its digest.

    The directory appears whole or not at all.

    Args:
        tokenizer: Tokenizer to write.
        directory: Folder that does not exist yet, or is empty.

    Raises:
        FileExistsError: if there are files in the directory.

    Example:

    >>> import tempfile
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fox"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     digest = save_tokenizer(tokenizer, f"{folder}/saved")
    ...     load_tokenizer(f"{folder}/saved", expected_digest=digest).tokenize("fox").numpy().tolist()
    [5]
    """
    with storage.whole_folder(directory) as folder:
        _write(tokenizer, folder)
    return tokenizer.digest


def _write(tokenizer: AnyTokenizer, folder: str) -> None:
    lines = "".join(f"{piece}\n" for piece in tokenizer.get_vocabulary())
    storage.write_text(os.path.join(folder, VOCABULARY_FILE), lines)
    for name, content in tokenizer.extra_files.items():
        with storage.whole_file(os.path.join(folder, name)) as file:
            file.write(content)
    settings = {
        "kind": tokenizer.kind,
        **tokenizer.settings,
        "digest": tokenizer.digest,
        "golden": _read_golden(tokenizer),
    }
    storage.write_json(os.path.join(folder, SETTINGS_FILE), settings, indent=1)


def load_tokenizer(directory: str | os.PathLike[str], expected_digest: str | None = None) -> AnyTokenizer:
    """Reads a tokenizer that `save_tokenizer` wrote, and checks it.

    Files of the same content give the same object, of which a process keeps the last few.

    Args:
        directory: Folder that `save_tokenizer` wrote.
        expected_digest: Digest that the tokenizer must have, that of the tokenizer a model was made with;
            None for any.

    Raises:
        FileNotFoundError: if one of the files is missing.
        TokenizerMismatchError: if the files were changed, the digest is not the expected one, or a golden
            text gives other ids than it did when the tokenizer was saved.
    """
    # No marker is needed: the digest and the golden ids show whether the folder is complete.
    folder = os.fspath(directory)
    settings = _read_settings(os.path.join(folder, SETTINGS_FILE))
    vocabulary = storage.read_text(os.path.join(folder, VOCABULARY_FILE))
    files = _read_files(settings["kind"], folder)
    tokenizer = _checked(_Saved(json.dumps(settings), vocabulary, tuple(files.items()), folder))
    if expected_digest is not None and tokenizer.digest != expected_digest:
        raise TokenizerMismatchError(
            f"{folder}: the tokenizer's digest is {tokenizer.digest}, expected {expected_digest}"
        )
    return tokenizer


@dataclasses.dataclass(frozen=True)
class _Saved:
    """A saved tokenizer by its content; the folder is for errors."""

    settings: str
    vocabulary: str
    files: tuple[tuple[str, bytes], ...]
    folder: str = dataclasses.field(compare=False)


@functools.lru_cache(maxsize=_KEPT)
def _checked(saved: _Saved) -> AnyTokenizer:
    folder, settings = saved.folder, json.loads(saved.settings)
    # str.splitlines would also split at U+2028 and its like.
    pieces = saved.vocabulary.removesuffix("\n").split("\n")
    try:
        tokenizer = _make(settings, pieces, dict(saved.files))
    except (ValueError, TypeError) as error:
        raise TokenizerMismatchError(f"{os.path.join(folder, VOCABULARY_FILE)}: {error}") from error
    if tokenizer.get_vocabulary() != pieces:
        raise TokenizerMismatchError(
            f"{folder}: {VOCABULARY_FILE} is not the vocabulary of {', '.join(tokenizer.extra_files)}"
        )
    _check(tokenizer, settings, folder)
    return tokenizer


def apply_template(tokenizer: AnyTokenizer, task: Any) -> AnyTokenizer:
    """Returns the tokenizer of a base as a model of a task is kept with it: with the task's chat template."""
    template = task.template_with(tokenizer.chat_template)
    if template == tokenizer.chat_template:
        return tokenizer
    return cast(PieceTokenizer, tokenizer).with_chat_template(template)


def copy_tokenizer(base: str, directory: str, task: Any) -> AnyTokenizer:
    """Writes the tokenizer of a base as a model of a task is kept with it, and returns it.

    Raises:
        TokenizerMismatchError: if the base's tokenizer is damaged.
    """
    tokenizer = load_tokenizer(base)
    taken = apply_template(tokenizer, task)
    if taken is not tokenizer:
        save_tokenizer(taken, directory)
        return taken
    storage.copy_folder(base, directory)
    return load_tokenizer(directory)


def _read_settings(path: str) -> dict[str, Any]:
    try:
        settings = json.loads(storage.read_text(path))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TokenizerMismatchError(f"{path} is not valid JSON: {error}") from error
    for key in _OWN_KEYS:
        if key not in settings:
            raise TokenizerMismatchError(f"{path} has no key {key!r}")
    if settings["kind"] not in TOKENIZERS:
        known = " or ".join(map(repr, TOKENIZERS))
        raise TokenizerMismatchError(f"{path}: kind is {settings['kind']!r}, expected {known}")
    return settings


def _read_files(kind: str, folder: str) -> dict[str, bytes]:
    files = {}
    for name in TOKENIZERS[kind].extra_file_names:
        with storage.open_file(os.path.join(folder, name)) as file:
            files[name] = file.read()
    return files


def _make(settings: dict[str, Any], pieces: list[str], files: dict[str, bytes]) -> AnyTokenizer:
    kind = TOKENIZERS[settings["kind"]]
    made_with = {key: value for key, value in settings.items() if key not in _OWN_KEYS}
    return kind.restored(pieces, files, made_with)


def _check(tokenizer: AnyTokenizer, settings: dict[str, Any], folder: str) -> None:
    if tokenizer.digest != settings["digest"]:
        raise TokenizerMismatchError(
            f"{folder}: vocabulary, settings or normalisation give the digest {tokenizer.digest}, "
            f"but {SETTINGS_FILE} says {settings['digest']}"
        )
    golden = settings["golden"]
    found = _ids_of(tokenizer, [row["text"] for row in golden])
    for row, ids in zip(golden, found):
        if ids != row["ids"]:
            raise TokenizerMismatchError(
                f"{folder}: {row['text']!r} gives {ids}, but gave {row['ids']} when saved"
            )
