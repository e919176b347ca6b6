"""Special pieces as Hugging Face's files name them."""

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import ADDED_FILE, SETTINGS_FILE, SPECIALS_FILE, Folder
from firth.tokenizers.graph.special_pieces import SpacesBefore, SpecialPieces
from firth.tokenizers.graph.vocabulary import is_sentinel

# The names of the tokens that play a role; the first one that is there does.
_TOKENS_OF_ROLES = {
    "cls": ("cls_token", "bos_token"),
    "sep": ("sep_token", "eos_token"),
    "pad": ("pad_token", "sep_token", "eos_token"),
    "unk": ("unk_token",),
    "mask": ("mask_token",),
}
_MARKS = ("single_word", "lstrip", "rstrip", "normalized", "special")


@dataclasses.dataclass(frozen=True)
class AddedToken:
    """A piece that is found in text before anything else.

    Attributes:
        content: The piece.
        id: Its id; None if only the vocabulary says it.
        single_word: Whether it is found between spaces alone.
        lstrip: Whether the spaces before it are a part of it.
        rstrip: Whether the spaces after it are a part of it.
        normalized: Whether it is found in text that is normalized already.
        special: Whether it is a special piece.
    """

    content: str
    id: int | None = None
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool = True

    @classmethod
    def of(cls, said: Mapping[str, Any], index: int | None = None) -> "AddedToken":
        """Returns the token that a file describes."""
        marks = {mark: bool(said[mark]) for mark in _MARKS if mark in said}
        return cls(said["content"], said.get("id", index), **marks)

    def described(self) -> dict[str, Any]:
        """Returns the token as `tokenizer.json` describes it."""
        marks = {mark: getattr(self, mark) for mark in _MARKS}
        return {"id": self.id, "content": self.content, **marks}


def added_of_settings(folder: Folder) -> list[AddedToken]:
    """Returns the added tokens that a folder's settings list, which has no `tokenizer.json`."""
    said = folder.optional(SETTINGS_FILE).get("added_tokens_decoder") or {}
    if said:
        return [AddedToken.of(each, int(index)) for index, each in said.items()]
    named = [_token(name, each) for name, said in _named(folder).items() for each in _flat(said)]
    known = {each.content: each for each in filter(None, named)}
    more = {
        content: dataclasses.replace(known.get(content, AddedToken(content, special=False)), id=index)
        for content, index in folder.optional(ADDED_FILE).items()
    }
    return list({**known, **more}.values())


def _flat(said: Any) -> list[Any]:
    return said if isinstance(said, list) else [said]


def _token(name: str, said: Any) -> AddedToken | None:
    if isinstance(said, Mapping):
        return AddedToken.of(said)
    # Where a mask is only named, the spaces before it are a part of it.
    return AddedToken(said, lstrip=name == "mask_token") if isinstance(said, str) else None


def _named(folder: Folder) -> dict[str, Any]:
    """Returns the tokens that the settings name, by the name of each; None for one that is not there."""
    said = {**folder.optional(SPECIALS_FILE), **folder.optional(SETTINGS_FILE)}
    return {name: said[name] for name in said if name.endswith(("_token", "_special_tokens"))}


def read_specials(
    folder: Folder, pieces: Sequence[str], added: Iterable[AddedToken], usual: Mapping[str, str | None]
) -> SpecialPieces:
    """Returns the special pieces of a folder, by their roles."""
    known, named = set(pieces), _named(folder)
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for names in _TOKENS_OF_ROLES.values() for name in names):
        piece = _content(named.get(name)) if name in named else usual.get(name)
        if piece is None or (name not in named and piece not in known):
            continue
        if piece not in known:
            near = difflib.get_close_matches(piece, pieces, n=1, cutoff=0.0)[0]
            raise InteropError(
                f"{folder.path}: {name}: {piece!r} is not in the vocabulary; the nearest piece is {near!r}"
            )
        found[name] = piece
    roles = {
        role: next((found[name] for name in names if name in found), None)
        for role, names in _TOKENS_OF_ROLES.items()
    }
    others = [each.content for each in added if each.content not in roles.values()]
    if roles["sep"] is None:
        raise InteropError(f"{folder.path}: {SETTINGS_FILE} names neither sep_token nor eos_token")
    try:
        return SpecialPieces(**roles, others=tuple(each for each in others if not is_sentinel(each)))  # type: ignore[arg-type]
    except ValueError as error:
        raise InteropError(f"{folder.path}: {error}") from error


def _content(said: Any) -> str | None:
    return said.get("content") if isinstance(said, Mapping) else said


def named_specials(specials: SpecialPieces, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Returns the tokens that settings name, as `read_specials` reads them."""
    by_role = dict(specials.by_role)
    if specials.pad == specials.sep:
        # What reads it takes the same piece where none is named.
        del by_role["pad"]
    return {name: piece for role, piece in by_role.items() for name in names.get(role, [f"{role}_token"])}


def check_added(file: str, added: Iterable[AddedToken], wanted: Mapping[str, bool]) -> None:
    """Passes if all added tokens are found in text as they can be here."""
    for each in added:
        for mark, value in wanted.items():
            if getattr(each, mark) != value:
                raise InteropError(
                    f"{file}: added_tokens: {each.content!r}: {mark}: {not value} cannot be expressed here"
                )


def read_spaces_before(file: str, added: Iterable[AddedToken], specials: SpecialPieces) -> SpacesBefore:
    """Returns which spaces before the mask and the sentinels are a part of them."""
    strips = {each.content: each.lstrip for each in added}
    may = [piece for piece in strips if piece == specials.mask or is_sentinel(piece)]
    for piece in may:
        if strips[piece] != strips[may[0]]:
            raise InteropError(f"{file}: added_tokens: {piece!r}: lstrip differs from that of {may[0]!r}")
    check_added(file, [each for each in added if each.content not in may], {"lstrip": False})
    return "all" if may and strips[may[0]] else "none"
