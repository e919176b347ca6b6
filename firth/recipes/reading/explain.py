"""Turns pydantic's errors into lines with a place, a key and the nearest valid name."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import Config
from firth.recipes.base.yaml_text import Path
from firth.recipes.reading.drafts import Draft
from firth.recipes.reading.types import config_at, key_paths

_NAMED_KEYS = re.compile(r"([a-z][a-z_0-9]*(?:\.[A-Za-z0-9][\w-]*)*):")


MOST_PROBLEMS = 50


def explain(error: pydantic.ValidationError, draft: Draft, root: type[Config]) -> list[str]:
    """Returns one line for each problem: `place: key: problem`.

    Args:
        error: Errors that pydantic found.
        draft: Values that were checked, with the origin of each.
        root: Recipe type that they were checked against.
    """
    errors = error.errors(include_url=False)
    found = [(_data_path(details["loc"], draft.data), details) for details in errors[:MOST_PROBLEMS]]
    lines = []
    for path, details in found:
        # A list whose items are all refused counts as empty; its items' problems say enough.
        is_echo = any(other[: len(path)] == path and other != path for other, _ in found)
        if not (is_echo and details["type"] == "too_short"):
            lines += [_line(draft, path, problem) for problem in _problems(details, path, draft, root)]
    return lines + ([f"and {len(errors) - len(found)} more problems"] if len(errors) > len(found) else [])


def _data_path(location: tuple[int | str, ...], data: Any) -> Path:
    """Returns the path in the data; pydantic's also names the `kind` that a union chose."""
    path: list[str] = []
    for step in location:
        if isinstance(data, dict) and step not in data and step == data.get("kind"):
            continue
        path.append(str(step))
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int):
            data = data[step]
    return tuple(path)


def _problems(details: Mapping[str, Any], path: Path, draft: Draft, root: type[Config]) -> Iterator[str]:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        yield f"unknown key; {_nearest_key(path, draft, root)}"
    elif kind == "missing":
        yield "required, but not given"
    elif kind == "union_tag_invalid":
        tag = context["tag"]
        yield f"kind: unknown kind {tag!r}; {suggest(tag, _quoted(context['expected_tags']))}"
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


def _nearest_key(path: Path, draft: Draft, root: type[Config]) -> str:
    parent = config_at(root, path[:-1], draft.data)
    siblings = list(parent.model_fields) if parent else []
    advice = suggest(path[-1], siblings)
    elsewhere = [key for key in key_paths(root) if key.split(".")[-1] == path[-1]]
    return f"did you mean {elsewhere[0]}?" if elsewhere and advice.startswith("one of") else advice


def _quoted(text: Any) -> list[str]:
    return re.findall(r"'([^']*)'", str(text))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _line(draft: Draft, path: Path, problem: str) -> str:
    """Places a problem where the last of the keys that it names was said."""
    named = [(*path, *key.split(".")) for key in _NAMED_KEYS.findall(problem)]
    said = [draft.origins[key] for key in named if key in draft.origins]
    origin = max(said, key=lambda origin: origin.layer, default=draft.origin(path))
    key = f"{'.'.join(path)}: " if path else ""
    return f"{origin.place}: {key}{problem}"
