"""How a preset of KerasHub holds one kind of tokenizer."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth.interop.hugging_face.tokenizers.files import Folder
from firth.tokenizers.piece_tokenizer import PieceTokenizer


@dataclasses.dataclass(frozen=True)
class PresetTokenizer:
    """One kind of tokenizer in presets; KerasHub's classes of the kind differ by their special pieces.

    Attributes:
        ours: Class of ours.
        always: Settings of theirs that can be expressed here.
        read: Function from a folder of assets, the settings, the rows of the token table and an empty
            tokenizer of the class, which says its special pieces, to ours.
        arguments: Function from ours and its pieces, by the names that theirs has, to the arguments of their
            class.
        read_otherwise: What of a text KerasHub's classes read otherwise than ours; empty if they give the
            same ids for all texts without special pieces.
        reads_otherwise_of: Function from a tokenizer of ours to what the one that is made of its arguments
            reads otherwise, next to that.
    """

    ours: type[PieceTokenizer]
    always: Mapping[str, Any]
    read: Callable[[Folder, Mapping[str, Any], int, Any], PieceTokenizer]
    arguments: Callable[[Any, Sequence[str]], dict[str, Any]]
    read_otherwise: str = ""
    reads_otherwise_of: Callable[[Any], str] = lambda tokenizer: ""

    def reads_otherwise(self, name: str, tokenizer: Any = None) -> str:
        """Returns which texts a class reads otherwise than ours; empty if it reads all texts alike."""
        own = self.read_otherwise or ("" if tokenizer is None else self.reads_otherwise_of(tokenizer))
        return f"KerasHub's {name} reads {own} otherwise" if own else ""
