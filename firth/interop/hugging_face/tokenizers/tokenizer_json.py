"""Content of `tokenizer.json`, for every kind of model."""

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import TOKENIZER_FILE, Folder, in_order
from firth.interop.hugging_face.tokenizers.specials import AddedToken
from firth.tokenizers.piece_tokenizer import PieceTokenizer

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# The anchors of RE2, where they are the ends of the text, and those of the `tokenizers` package.
_ANCHORS = {"^": r"\A", "$": r"\z"}
# What means the same in both: characters, classes, groups, alternatives and repetitions.
_CLASS = r"\[\^?[^\[\]\\&]+\]"
_OURS = re.compile(rf"{_CLASS}|[\^$]|[^\\\[\]{{}}.]")
_THEIRS = re.compile(rf"{_CLASS}|\\[Az]|[^\\\[\]{{}}.^$]")


class TokenizerJson:
    """The content of `tokenizer.json`."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.file = folder, folder.place(TOKENIZER_FILE)
        self.content = folder.mapping(TOKENIZER_FILE)
        if not isinstance(self.content.get("model"), dict):
            raise InteropError(f"{self.file}: holds no model")

    def part(self, name: str) -> dict[str, Any]:
        """Returns a part, such as `normalizer`; empty if the file lacks it."""
        found = self.content.get(name) or {}
        if not isinstance(found, dict):
            raise InteropError(f"{self.file}: {name}: must be a mapping")
        return found

    @property
    def model(self) -> dict[str, Any]:
        """The model, with its vocabulary."""
        return self.part("model")

    @functools.cached_property
    def added(self) -> list[AddedToken]:
        """The added tokens."""
        try:
            return [AddedToken.of(each) for each in self.content.get("added_tokens") or ()]
        except (KeyError, TypeError, AttributeError) as error:
            raise InteropError(f"{self.file}: added_tokens: a token without {error}") from None

    def pieces(self) -> list[str]:
        """Returns the pieces in the order of their ids, added ones included."""
        vocabulary = self.model.get("vocab")
        if not isinstance(vocabulary, dict):
            raise InteropError(f"{self.file}: model.vocab: must be a mapping from pieces to ids")
        return in_order(self.file, "model.vocab", with_added(self.file, vocabulary, self.added))


def with_added(file: str, vocabulary: dict[str, int], added: list[AddedToken]) -> dict[str, int]:
    """Returns the ids of all pieces."""
    ids = dict(vocabulary)
    for each in added:
        if each.id is None:
            continue
        if ids.setdefault(each.content, each.id) != each.id:
            raise InteropError(
                f"{file}: added_tokens: {each.content!r} has the id {each.id}, "
                f"and {ids[each.content]} in the vocabulary"
            )
    return ids


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
        settings: Function that returns its settings in `tokenizer_config.json`.
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


def write_normalizers(steps: Iterable[Sequence[str]]) -> list[dict[str, Any]]:
    r"""Returns normalizers that do what steps do.

    Raises:
        InteropError: for a pattern that may mean something else there.

    Example:

    >>> write_normalizers([("^ +", ""), ("NFC",)])
    [{'type': 'Replace', 'pattern': {'Regex': '\\A +'}, 'content': ''}, {'type': 'NFC'}]
    """
    return [_form(*step) if len(step) == 1 else _replacement(*step) for step in steps]


def _form(form: str) -> dict[str, Any]:
    if form not in _FORMS:
        raise InteropError(f"normalization: the form {form} cannot be expressed; {', '.join(_FORMS)} can")
    return {"type": form}


def _replacement(pattern: str, replacement: str) -> dict[str, Any]:
    parts = _parts(pattern, _OURS)
    if parts is None or "\\" in replacement:
        raise InteropError(
            f"normalization: the step from {pattern!r} to {replacement!r} cannot be expressed: what is not "
            f"characters, classes, groups, alternatives or repetitions may mean something else there"
        )
    return {
        "type": "Replace",
        "pattern": {"Regex": "".join(_ANCHORS.get(part, part) for part in parts)},
        "content": replacement,
    }


def _parts(pattern: str, known: re.Pattern[str]) -> list[str] | None:
    """Returns the parts of a pattern, if all of them mean the same in both languages."""
    parts = known.findall(pattern)
    return parts if "".join(parts) == pattern and "(?" not in pattern else None


def read_normalizers(file: str, normalizers: Sequence[dict[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """Returns the steps that normalizers are.

    Raises:
        InteropError: for one that is not a step.
    """
    return tuple(_step(file, each) for each in normalizers)


def _step(file: str, said: dict[str, Any]) -> tuple[str, ...]:
    if said.get("type") in _FORMS:
        return (str(said["type"]),)
    if said.get("type") != "Replace":
        raise InteropError(f"{file}: normalizer.type: {said.get('type')!r} cannot be expressed here")
    pattern, content = said.get("pattern") or {}, said.get("content")
    parts = _parts(str(pattern.get("Regex")), _THEIRS) if "Regex" in pattern else None
    if parts is None or "\\" in str(content):
        raise InteropError(f"{file}: normalizer: Replace {pattern} by {content!r} cannot be expressed here")
    back = {theirs: ours for ours, theirs in _ANCHORS.items()}
    return "".join(back.get(part, part) for part in parts), str(content)


def flat_normalizers(said: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Returns the normalizers of a part of `tokenizer.json`, those of sequences one after another."""
    if not said:
        return []
    if said.get("type") == "Sequence":
        return [each for part in said.get("normalizers") or () for each in flat_normalizers(part)]
    return [said]


def join_normalizers(normalizers: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Returns the part `normalizer` that does what normalizers do one after another."""
    if len(normalizers) > 1:
        return {"type": "Sequence", "normalizers": list(normalizers)}
    return normalizers[0] if normalizers else None
