"""Base type of the tokenizers in KerasHub's presets, one for each kind."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.tokenizers.graph.special_pieces import ROLES, SPECIAL_PIECES, SpecialPieces
from firth.tokenizers.piece_tokenizer import PieceTokenizer

# XLNet's, which has no class.
_XLNET = {"sep": "<sep>", "cls": "<cls>", "pad": "<pad>", "mask": "<mask>", "unk": "<unk>"}
# Attributes of theirs. One piece may be both ends, as in GPT-2; it is the one after a text then.
_ROLES = {
    "end_token": "sep",
    "start_token": "cls",
    "pad_token": "pad",
    "mask_token": "mask",
    "oov_token": "unk",
}
_UNKNOWN = "<unk>"


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


def specials_of(theirs: Any, pieces: Set[str]) -> SpecialPieces:
    """Returns the special pieces of KerasHub's class, by their roles."""
    named: dict[str, Any] = {role: getattr(theirs, attribute, None) for attribute, role in _ROLES.items()}
    if not any(named.values()):
        named = dict(zip(ROLES, SPECIAL_PIECES)) if pieces >= set(SPECIAL_PIECES) else dict(_XLNET)
    found: dict[str, Any] = {role: piece if piece in pieces else None for role, piece in named.items()}
    if found["sep"] is None:
        raise ValueError(f"the vocabulary has no {named['sep']!r}, which ends a text")
    if found["unk"] is None and _UNKNOWN in pieces:
        found["unk"] = _UNKNOWN
    # Some classes fill rows with the piece of id 0, whatever it is.
    found["pad"] = found["pad"] or found["sep"]
    others = sorted(
        piece for piece in theirs.special_tokens if piece in pieces and piece not in found.values()
    )
    return SpecialPieces(**found, others=tuple(others), spaces_before="none")


def renamed(tokenizer: PieceTokenizer, theirs: Any) -> list[str]:
    """Returns all pieces in the order of their ids; special ones have the names of KerasHub's class."""
    pieces, ours = tokenizer.get_vocabulary(), tokenizer.specials.by_role
    name, taken = type(theirs).__name__, set[int]()
    for piece, role in _roles_by_name(theirs).items():
        if role not in ours:
            raise InteropError(f"KerasHub's {name} needs a {role} piece, {piece!r}; the tokenizer has none")
        place = tokenizer.token_to_id(ours[role])
        if place in taken or (piece != ours[role] and piece in pieces):
            raise InteropError(
                f"KerasHub's {name} has {piece!r} as {role} piece; the tokenizer's is {ours[role]!r}"
            )
        pieces[place] = piece
        taken.add(place)
    return pieces


def _roles_by_name(theirs: Any) -> dict[str, str]:
    roles: dict[str, str] = {}
    for attribute, role in _ROLES.items():
        if (piece := getattr(theirs, attribute, None)) is not None:
            roles.setdefault(piece, role)
    return roles


def require_ours(key: str, found: Any, wanted: Any) -> None:
    """Passes if a setting of ours is the only one that KerasHub's classes have."""
    if found != wanted:
        raise InteropError(f"tokenizer.{key}: {found!r} cannot be expressed by KerasHub, {wanted!r} can")
