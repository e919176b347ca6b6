"""How one kind of tokenizer stands in a preset of KerasHub."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth.interop.hugging_face.tokenizers.files import Folder
from firth.tokenizers.graph.special_pieces import SpecialPieces
from firth.tokenizers.piece_tokenizer import PieceTokenizer


@dataclasses.dataclass(frozen=True)
class PresetTokenizer:
    """One kind of tokenizer in presets; KerasHub's classes of the kind differ by their special pieces.

    Attributes:
        ours: Class of ours.
        always: Settings of theirs that can be expressed here.
        pieces: Function from a folder of assets and the rows of the token table to all pieces.
        read: Function from that folder, the pieces, the settings and the special pieces to ours.
        arguments: Function from ours and its pieces, by the names that theirs has, to the arguments of their
            class.
    """

    ours: type[PieceTokenizer]
    always: Mapping[str, Any]
    pieces: Callable[[Folder, int], list[str]]
    read: Callable[[Folder, Sequence[str], Mapping[str, Any], SpecialPieces], PieceTokenizer]
    arguments: Callable[[Any, Sequence[str]], dict[str, Any]]
