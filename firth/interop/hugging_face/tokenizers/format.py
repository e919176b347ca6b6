"""How Hugging Face's files hold one kind of tokenizer."""

import dataclasses
from collections.abc import Callable
from typing import Any

from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.hugging_face.tokenizers.tokenizer_json import TokenizerJson
from firth.tokenizers.piece_tokenizer import PieceTokenizer


@dataclasses.dataclass(frozen=True)
class TokenizerFormat:
    """One kind of tokenizer in Hugging Face's files.

    Attributes:
        title: Name for people.
        model_type: Type of its model in `tokenizer.json`.
        fits: Function that tells whether a `tokenizer.json` with such a model is of this format.
        of_json: Function that reads a `tokenizer.json` that fits.
        files: Names of the older files that hold such a tokenizer together; empty without older files.
        of_files: Function that reads these.
        kind: Kind of such a tokenizer here.
        write: Function that returns the parts of `tokenizer.json` that are of this format, added tokens as
            such; None if such tokenizers do not go out.
        settings: Function that returns what `tokenizer_config.json` says of it.
        models: Function that returns the contents of further files of a family, by name.
    """

    title: str
    model_type: str
    fits: Callable[[TokenizerJson], bool]
    of_json: Callable[[TokenizerJson], PieceTokenizer]
    files: tuple[str, ...]
    of_files: Callable[[Folder], PieceTokenizer]
    kind: str
    write: Callable[[Any], dict[str, Any]] | None = None
    settings: Callable[[Any], dict[str, Any]] = lambda tokenizer: {}
    models: Callable[[Any, str | None], dict[str, bytes]] = lambda tokenizer, model_type: {}
