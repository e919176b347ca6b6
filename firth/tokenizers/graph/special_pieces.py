"""The special pieces of a vocabulary, each by the role that it plays."""

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, Literal

PAD, UNK, CLS, SEP, MASK = SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROLES = ("pad", "unk", "cls", "sep", "mask")
# Which spaces before `mask` and before a sentinel are a part of it: one at most, all, or none.
SpacesBefore = Literal["one", "all", "none"]
_SPACES_BEFORE = ("one", "all", "none")


class MissingPieceError(ValueError):
    """A role that something needs, and that no piece of the tokenizer plays."""


@dataclasses.dataclass(frozen=True)
class SpecialPieces:
    """The pieces that play the special roles, which may share a piece.

    Document ids mark padding, not the id of its piece, so `pad` may be any piece.

    Attributes:
        pad: Piece that fills rows after their text.
        unk: Piece for text that no other piece covers; None where bytes cover all text.
        cls: Piece before a text; None if there is no such piece.
        sep: Piece after a text, or between two.
        mask: Piece for a hidden word; None if there is no such piece.
        others: Further special pieces, which are found in text and have no role here.
        spaces_before: Spaces before `mask`, and before a sentinel, that are a part of it: `one` at most,
            `all` or `none`. It says something of tokenizers that keep spaces.

    Example:

    >>> gpt2 = SpecialPieces(*["<|endoftext|>"] * 4, mask=None)
    >>> gpt2.pieces, gpt2.roles_of("<|endoftext|>")
    (('<|endoftext|>',), ['pad', 'unk', 'cls', 'sep'])
    """

    pad: str = PAD
    unk: str | None = UNK
    cls: str | None = CLS
    sep: str = SEP
    mask: str | None = MASK
    others: tuple[str, ...] = ()
    spaces_before: SpacesBefore = "one"

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", tuple(self.others))
        for role in ("pad", "sep"):
            if role not in self.by_role:
                raise ValueError(f"specials: {role}: there is no piece for it, and it may share another's")
        for piece in (*self.by_role.values(), *self.others):
            if not isinstance(piece, str) or not piece or "\n" in piece or "\r" in piece:
                raise ValueError(f"specials: {piece!r} is not a string without line breaks")
        if len({*self.by_role.values(), *self.others}) < len(set(self.by_role.values())) + len(self.others):
            raise ValueError(f"specials: others: one of {list(self.others)} is there twice, or has a role")
        if self.spaces_before not in _SPACES_BEFORE:
            raise ValueError(
                f"specials: spaces_before: {self.spaces_before!r} is not one of {', '.join(_SPACES_BEFORE)}"
            )

    @classmethod
    def of(cls, value: "SpecialPieces | Mapping[str, Any] | None") -> "SpecialPieces":
        """Returns the special pieces of settings."""
        if isinstance(value, SpecialPieces):
            return value
        names = [field.name for field in dataclasses.fields(cls)]
        for key in value or {}:
            if key not in names:
                near = difflib.get_close_matches(key, names, n=1, cutoff=0.0)[0]
                raise ValueError(f"specials: {key!r} is not a key; the nearest is {near!r}")
        return cls(**(value or {}))

    @property
    def by_role(self) -> dict[str, str]:
        """The piece of each role that there is, in the order pad, unk, cls, sep, mask."""
        found = {role: getattr(self, role) for role in ROLES}
        return {role: piece for role, piece in found.items() if piece is not None}

    @property
    def pieces(self) -> tuple[str, ...]:
        """All of them, each once: those with a role first."""
        return tuple(dict.fromkeys([*self.by_role.values(), *self.others]))

    @property
    def unwritten(self) -> tuple[str, ...]:
        """Those without any text: padding, unless its piece has another role too."""
        return (self.pad,) if self.roles_of(self.pad) == ["pad"] else ()

    def roles_of(self, piece: str) -> list[str]:
        """Returns the roles that a piece plays."""
        return [role for role, each in self.by_role.items() if each == piece]

    def missing(self, role: str) -> MissingPieceError:
        """Returns the error for a role that no piece plays."""
        return MissingPieceError(
            f"the tokenizer has no {role} piece; its special pieces are {' '.join(self.pieces)}"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """Argument that makes these pieces again, fit for JSON; empty for the five names of BERT."""
        if self == SpecialPieces():
            return {}
        return {"specials": {**dataclasses.asdict(self), "others": list(self.others)}}
