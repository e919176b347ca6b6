"""Normalization of text before all else, as Hugging Face's normalizers say it and back."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from firth.interop.errors import InteropError

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# The anchors of RE2, where they are the ends of the text, and those of the `tokenizers` package.
_ANCHORS = {"^": r"\A", "$": r"\z"}
# What means the same in both: characters, classes, groups, alternatives and repetitions.
_CLASS = r"\[\^?[^\[\]\\&]+\]"
_OURS = re.compile(rf"{_CLASS}|[\^$]|[^\\\[\]{{}}.]")
_THEIRS = re.compile(rf"{_CLASS}|\\[Az]|[^\\\[\]{{}}.^$]")


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
