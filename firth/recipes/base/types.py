"""Looking into the recipe types: which keys exist, where, and what each one sets."""

import ast
import functools
import inspect
import itertools
import re
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.yaml_text import Path


def configs_in(annotation: Any) -> list[type[pydantic.BaseModel]]:
    """Returns the recipe types that an annotation allows.

    Example:

    >>> from firth.recipes import AdamWConfig
    >>> [config.__name__ for config in configs_in(AdamWConfig | None)]
    ['AdamWConfig']
    """
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    if typing.get_origin(annotation) in (typing.Annotated, typing.Union, types.UnionType, tuple, dict):
        return [config for part in typing.get_args(annotation) for config in configs_in(part)]
    return []


def config_at(root: type[pydantic.BaseModel], path: Path, data: Any) -> type[pydantic.BaseModel] | None:
    """Returns the recipe type at a path of the data, following each part's `kind`; None if there is no such
    type.

    Example:

    >>> from firth.recipes import Recipe
    >>> config_at(Recipe, ("sources", "0"), {"sources": [{"kind": "text"}]}).__name__
    'TextSource'
    """
    config: type[pydantic.BaseModel] | None = root
    candidates: list[type[pydantic.BaseModel]] = []
    for key in path:
        if isinstance(data, list):
            data = data[int(key)]
        else:
            field = config.model_fields.get(key) if config else None
            candidates = configs_in(field.annotation) if field else []
            data = data.get(key) if isinstance(data, dict) else None
        if not isinstance(data, list):
            config = _of_kind(candidates, data)
    return config


def _of_kind(candidates: list[type[pydantic.BaseModel]], data: Any) -> type[pydantic.BaseModel] | None:
    if len(candidates) == 1:
        return candidates[0]
    kind = data.get("kind") if isinstance(data, dict) else None
    return next((config for config in candidates if kind in kinds_of(config)), None)


def kinds_of(config: type[pydantic.BaseModel]) -> tuple[str, ...]:
    """Returns the values that a type's `kind` may have; empty for a type without one."""
    field = config.model_fields.get("kind")
    return typing.get_args(field.annotation) if field else ()


def kind_named(given: str, types: Iterable[type[pydantic.BaseModel]]) -> str | None:
    """Returns the kind of several types that other libraries give a name; None if none has it.

    A name may have more after it, such as `translation_en_to_fr`.

    Example:

    >>> from firth.recipes.tasks.tasks import task_types
    >>> kind_named("TokenClassification", task_types().values()), kind_named("taging", task_types().values())
    ('tagging', None)
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", "-", given.strip()).lower()
    for each in types:
        if any(f"{words}-".startswith(f"{name}-") for name in getattr(each, "other_names", ())):
            return kinds_of(each)[0]
    return None


def suggest_kind(given: str, types: Iterable[type[pydantic.BaseModel]]) -> str:
    """Returns which kind of several types is meant, in words; see `suggest`.

    Example:

    >>> from firth.recipes.tasks.tasks import task_types
    >>> suggest_kind("ner", task_types().values()), suggest_kind("taging", task_types().values())
    ('tagging is its name here', 'did you mean tagging?')
    """
    candidates = list(dict.fromkeys(types))
    if named := kind_named(given, candidates):
        return f"{named} is its name here"
    return suggest(given, [kind for each in candidates for kind in kinds_of(each)])


def types_at(root: type[pydantic.BaseModel], path: Path, data: Any) -> list[type[pydantic.BaseModel]]:
    """Returns the types that a part at a path may have; empty for a part of a list or of a mapping."""
    outer = config_at(root, path[:-1], data)
    field = outer.model_fields.get(path[-1]) if outer and path else None
    return configs_in(field.annotation) if field else []


def kinds_with(root: type[pydantic.BaseModel], path: Path, data: Any) -> list[str]:
    """Returns the kinds of a part that have a key, where the part may be of several kinds.

    Example:

    >>> from firth.recipes import Training
    >>> kinds_with(Training, ("optimizer", "clip_threshold"), {"optimizer": {"kind": "adamw"}})
    ['adafactor']
    """
    return [
        kind
        for each in types_at(root, path[:-1], data)
        if path[-1] in each.model_fields
        for kind in kinds_of(each)
    ]


def key_paths(config: type[pydantic.BaseModel], path: Path = ()) -> Iterator[str]:
    """Yields the dotted path of every key below a type. The items of lists and mappings are left out.

    Example:

    >>> from firth.recipes import Training
    >>> "optimizer.learning_rate" in set(key_paths(Training))
    True
    """
    for name, field in config.model_fields.items():
        yield ".".join((*path, name))
        if typing.get_origin(field.annotation) not in (tuple, dict):
            for below in configs_in(field.annotation):
                yield from key_paths(below, (*path, name))


def descriptions(config: type[pydantic.BaseModel]) -> dict[str, str]:
    """Returns the text of each key: the docstring under its field, in the type or in the nearest base.

    Sources are read when a text is asked for. Pydantic's `use_attribute_docstrings` reads them while each
    type is made, which adds two fifths to the time that the command needs to load the recipe types.

    Example:

    >>> from firth.recipes import LambConfig
    >>> descriptions(LambConfig)["warmup_steps"]
    'Steps from zero to `learning_rate`.'
    """
    found: dict[str, str] = {}
    for base in reversed(config.__mro__):
        if config.model_fields.keys() & vars(base).get("__annotations__", {}).keys():
            found |= _field_docstrings(base.__module__).get(base.__qualname__, {})
    return {name: found[name] for name in config.model_fields if name in found}


@functools.cache
def _field_docstrings(module: str) -> Mapping[str, Mapping[str, str]]:
    """Returns the docstrings under the fields of a module's classes, by class; none without its source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: dict(_docstrings_in(node)) for node in classes}


def _docstrings_in(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for pair in itertools.pairwise(node.body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())
