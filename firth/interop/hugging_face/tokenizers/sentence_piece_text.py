"""Steps of text before a SentencePiece model, as Hugging Face's normalizers and pre-tokenizers."""

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import one_of
from firth.tokenizers.graph.text_steps import (
    FORMS,
    OWN_MAP,
    PREPENDED,
    SINGLE_SPACES,
    SPACE,
    Preparation,
    Step,
)
from firth.tokenizers.graph.vocabulary import META_SPACE

_NAMES = {"StripAccents": "strip_accents", "Lowercase": "lowercase", **{form: form for form in FORMS}}
# What Python counts as a space.
PYTHON_SPACES: Step = (rf"(?:{SPACE}|[\x{{1c}}-\x{{1f}}])+", " ")
# Patterns of the `tokenizers` package, with those here that are known to mean the same.
_PATTERNS = {
    " {2,}": SINGLE_SPACES[0][0],
    r" +\z": SINGLE_SPACES[1][0],
    r"[\s\x1c-\x1f]+": PYTHON_SPACES[0],
    r"\s{2,}|[\n\r\t]": rf"{SPACE}{{2,}}|[\n\r\t]",
}
_STRIPS = {"strip_left": rf"\A{SPACE}+", "strip_right": rf"{SPACE}+\z"}
# What `WhitespaceSplit` and then `Metaspace` do: words get one space each before them, if they have none.
WORDS: tuple[Step, ...] = ((f"{SPACE}+", " "), (f" {META_SPACE}", META_SPACE), (r"\A | \z", ""))
_PREPENDING = {True: "always", False: "never"}


def read_preparation(
    file: str, normalizer: dict[str, Any], pre_tokenizer: dict[str, Any]
) -> tuple[Preparation, bytes, bool]:
    """Returns the steps of text, the map of characters, and whether text is split at spaces."""
    normalizers = _flat(normalizer, "normalizers")
    steps = [step for each in normalizers for step in _steps(file, each)]
    maps = [_map_of(file, each) for each in normalizers if each.get("type") == "Precompiled"]
    if len(maps) > 1:
        raise InteropError(f"{file}: normalizer: two of Precompiled cannot be expressed here, one can")
    parts = _flat(pre_tokenizer, "pretokenizers")
    types = [each.get("type") for each in parts]
    if types == ["WhitespaceSplit", "Metaspace"]:
        one_of(file, "pre_tokenizer.prepend_scheme", _scheme(file, parts[-1]), ["always"])
        steps += WORDS
    elif types not in (["Metaspace"], []):
        raise InteropError(
            f"{file}: pre_tokenizer: {' and '.join(map(str, types))} cannot be expressed here; Metaspace "
            f"can, with WhitespaceSplit before it or without"
        )
    if not parts and (re.escape(" "), META_SPACE) not in steps:
        raise InteropError(
            f"{file}: pre_tokenizer: None cannot be expressed here without {META_SPACE} for spaces"
        )
    prefix: Any = _scheme(file, parts[-1]) if parts else "never"
    is_split = bool(parts and parts[-1].get("split", True))
    return Preparation(tuple(steps), prefix), (maps or [b""])[0], is_split


def _flat(part: dict[str, Any], key: str) -> list[dict[str, Any]]:
    if part.get("type") == "Sequence":
        return [inner for each in part.get(key) or () for inner in _flat(each, key)]
    return [part] if part else []


def _scheme(file: str, said: dict[str, Any]) -> str:
    one_of(file, "pre_tokenizer.replacement", said.get("replacement", META_SPACE), [META_SPACE])
    scheme = said.get("prepend_scheme") or _PREPENDING[bool(said.get("add_prefix_space", True))]
    one_of(file, "pre_tokenizer.prepend_scheme", scheme, ["always", "first", "never"])
    return str(scheme)


def _map_of(file: str, said: dict[str, Any]) -> bytes:
    try:
        return base64.b64decode(said.get("precompiled_charsmap") or "", validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise InteropError(f"{file}: normalizer.precompiled_charsmap: is not base 64: {error}") from None


def _steps(file: str, said: dict[str, Any]) -> list[Step]:
    said_type = said.get("type")
    if said_type in _NAMES:
        return [(_NAMES[said_type],)]
    if said_type == "Precompiled":
        return [(OWN_MAP,)]
    if said_type == "Strip":
        return [(pattern, "") for side, pattern in _STRIPS.items() if said.get(side)]
    if said_type == "Prepend":
        one_of(file, "normalizer.prepend", said.get("prepend"), [META_SPACE])
        return [PREPENDED]
    if said_type != "Replace":
        raise InteropError(f"{file}: normalizer.type: {said_type!r} cannot be expressed here")
    pattern, content = said.get("pattern") or {}, str(said.get("content")).replace("\\", r"\\")
    if isinstance(pattern.get("String"), str):
        return [(re.escape(pattern["String"]), content)]
    one_of(file, "normalizer.pattern.Regex", pattern.get("Regex"), _PATTERNS)
    return [(_PATTERNS[pattern["Regex"]], content)]


def write_preparation(
    preparation: Preparation, charsmap: bytes, is_split: bool
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Returns the parts `normalizer` and `pre_tokenizer` that do what is done to text here.

    Raises:
        InteropError: for a step that cannot be expressed there.
    """
    steps, meta_space = preparation.steps, _meta_space(preparation.prefix, is_split)
    pre_tokenizer = meta_space
    if preparation.prefix == "always" and steps[-len(WORDS) :] == WORDS:
        steps = steps[: -len(WORDS)]
        pre_tokenizer = _sequence("pretokenizers", [{"type": "WhitespaceSplit"}, meta_space])
    normalizers = [made for step in steps for made in _normalizers(step, charsmap)]
    if len(normalizers) > 1:
        return _sequence("normalizers", normalizers), pre_tokenizer
    return (normalizers[0] if normalizers else None), pre_tokenizer


def _meta_space(prefix: str, is_split: bool) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": META_SPACE, "prepend_scheme": prefix, "split": is_split}


def _sequence(key: str, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", key: list(parts)}


def _normalizers(step: Step, charsmap: bytes) -> list[dict[str, Any]]:
    named = {ours: theirs for theirs, ours in _NAMES.items()}
    patterns = {ours: theirs for theirs, ours in _PATTERNS.items()}
    if step == (OWN_MAP,):
        encoded = base64.b64encode(charsmap).decode()
        return [{"type": "Precompiled", "precompiled_charsmap": encoded}] if charsmap else []
    if len(step) == 1:
        return [{"type": named[step[0]]}]
    if step == PREPENDED:
        return [{"type": "Prepend", "prepend": META_SPACE}]
    pattern, content = step[0], step[1].replace(r"\\", "\\")
    for side, stripped in _STRIPS.items():
        if step == (stripped, ""):
            return [{"type": "Strip", **dict.fromkeys(_STRIPS, False), side: True}]
    if pattern in patterns:
        return [{"type": "Replace", "pattern": {"Regex": patterns[pattern]}, "content": content}]
    literal = re.sub(r"\\(.)", r"\1", pattern)
    if re.escape(literal) != pattern:
        raise InteropError(f"the step from {pattern!r} to {content!r} cannot be expressed there")
    return [{"type": "Replace", "pattern": {"String": literal}, "content": content}]
