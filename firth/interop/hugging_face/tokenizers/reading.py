"""Reads the tokenizer of a folder in Hugging Face's format."""

import os

from firth.interop.errors import InteropError
from firth.interop.given_files import expected_shape
from firth.interop.hugging_face.tokenizers.files import TOKENIZER_FILE, Folder
from firth.interop.hugging_face.tokenizers.tokenizer_formats import FORMATS
from firth.interop.hugging_face.tokenizers.tokenizer_json import TokenizerJson
from firth.recipes.base.errors import suggest
from firth.tokenizers.piece_tokenizer import PieceTokenizer


def read_tokenizer(path: str | os.PathLike[str]) -> PieceTokenizer:
    """Returns the tokenizer of a folder: of `tokenizer.json`, or of the older files where that is missing.

    Its ids are those of the `tokenizers` package; what cannot be expressed exactly is refused.

    Args:
        path: Path of the folder, on this machine or with a scheme.

    Raises:
        InteropError: if there is no tokenizer, or one that cannot be expressed here exactly, with the file,
            the key and its value.
    """
    folder = Folder(path)
    is_json = folder.holds(TOKENIZER_FILE)
    try:
        with expected_shape(folder.place(TOKENIZER_FILE) if is_json else folder.path):
            return _of_json(folder) if is_json else _of_files(folder)
    except InteropError:
        raise
    except ValueError as error:
        raise InteropError(f"{folder.path}: {error}") from error


def _of_json(folder: Folder) -> PieceTokenizer:
    source = TokenizerJson(folder)
    said = source.model.get("type")
    candidates = [each for each in FORMATS if each.model_type == said]
    if not candidates:
        near = suggest(str(said), [each.model_type for each in FORMATS])
        raise InteropError(f"{source.file}: model.type: {said!r} cannot be read; {near}")
    for each in candidates:
        if each.fits(source):
            return each.of_json(source)
    titles = " or ".join(each.title for each in candidates)
    raise InteropError(f"{source.file}: model: it is not {titles}, which can be read")


def _of_files(folder: Folder) -> PieceTokenizer:
    formats = [each for each in FORMATS if each.files]
    for each in formats:
        missing = [name for name in each.files if not folder.holds(name)]
        if not missing:
            return each.of_files(folder)
        if len(missing) < len(each.files):
            raise InteropError(f"{folder.path} holds no {missing[0]}, which goes with {each.files[0]}")
    known = " nor ".join(" with ".join(each.files) for each in formats)
    raise InteropError(f"{folder.path} holds neither {TOKENIZER_FILE} nor {known}")
