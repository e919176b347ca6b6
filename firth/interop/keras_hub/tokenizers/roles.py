"""The special pieces that KerasHub's classes have by name, and ours by role."""

from collections.abc import Set
from typing import Any

from firth.interop.errors import InteropError
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
