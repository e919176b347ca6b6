"""How one kind of tokenizer stands in Hugging Face's files."""

import dataclasses
from collections.abc import Callable

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
        files: Names of the older files that hold such a tokenizer together; empty if there are none.
        of_files: Function that reads these.
    """

    title: str
    model_type: str
    fits: Callable[[TokenizerJson], bool]
    of_json: Callable[[TokenizerJson], PieceTokenizer]
    files: tuple[str, ...]
    of_files: Callable[[Folder], PieceTokenizer]
