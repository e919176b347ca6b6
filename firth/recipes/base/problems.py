"""Problems of values that do not fit a recipe type: the place, and the nearest valid name."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.types import config_at, key_paths, kind_named, kinds_with, types_at
from firth.recipes.base.yaml_text import Path

MOST_PROBLEMS = 50
# The last part of pydantic's path where the key itself, and not its value, is refused.
_OF_KEY = "[key]"


def problems_of(
    error: pydantic.ValidationError, data: Any, root: type[pydantic.BaseModel]
) -> tuple[list[tuple[Path, str]], int]:
    """Returns the problems that pydantic found, in plain words, and the number of those that are left out.

    Example:

    >>> from firth.recipes import Training
    >>> try:
    ...     Training.model_validate({"stesp": 5})
    ... except pydantic.ValidationError as error:
    ...     problems_of(error, {"stesp": 5}, Training)
    ([(('stesp',), 'unknown key; did you mean steps?')], 0)
    """
    errors = error.errors(include_url=False)
    found = [(_data_path(details["loc"], data), details) for details in errors[:MOST_PROBLEMS]]
    told = []
    for path, details in found:
        # A list whose items are all refused counts as empty; its items' problems say enough.
        is_echo = any(other[: len(path)] == path and other != path for other, _ in found)
        if not (is_echo and details["type"] == "too_short"):
            told += [(path, problem) for problem in _problems(details, path, data, root)]
    return told, len(errors) - len(found)


def _data_path(location: tuple[int | str, ...], data: Any) -> Path:
    """Returns the path in the data; pydantic's also names the kind that a union chose, and marks bad keys."""
    path: list[str] = []
    for step in location:
        if isinstance(data, dict) and step not in data and step == data.get("kind"):
            continue
        if step == _OF_KEY and not (isinstance(data, dict) and step in data):
            continue
        path.append(str(step))
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int):
            data = data[step]
    return tuple(path)


def _problems(
    details: Mapping[str, Any], path: Path, data: Any, root: type[pydantic.BaseModel]
) -> Iterator[str]:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        yield f"unknown key; {_nearest_key(path, data, root)}"
    elif kind == "missing":
        yield "required, but not given"
    elif kind == "union_tag_invalid":
        tag = context["tag"]
        named = kind_named(str(tag), types_at(root, path, data))
        known = f"{named} is its name here" if named else suggest(tag, _quoted(context["expected_tags"]))
        yield f"kind: unknown kind {tag!r}; {known}"
    elif kind == "union_tag_not_found":
        yield f"must be a mapping with a `kind`, not {_short(details['input'])}"
    elif kind == "literal_error":
        given = details["input"]
        yield f"{_short(given)} is not a choice here; {suggest(str(given), _quoted(context['expected']))}"
    elif kind == "value_error":
        yield from str(context["error"]).splitlines()
    else:
        message = re.sub(r"^\w+ should ", "must ", details["msg"])
        message = message.replace("a valid array", "a list").replace("an object", "a mapping")
        yield message if ", not " in message else f"{message}, not {_short(details['input'])}"


def _nearest_key(path: Path, data: Any, root: type[pydantic.BaseModel]) -> str:
    parent = config_at(root, path[:-1], data)
    siblings = list(parent.model_fields) if parent else []
    advice = suggest(path[-1], siblings)
    if not advice.startswith("one of"):
        return advice
    if kinds := kinds_with(root, path, data):
        return f"a part of kind: {', '.join(kinds)} has it"
    elsewhere = [key for key in key_paths(root) if key.split(".")[-1] == path[-1]]
    return f"did you mean {elsewhere[0]}?" if elsewhere else advice


def _quoted(text: Any) -> list[str]:
    return re.findall(r"'([^']*)'", str(text))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
