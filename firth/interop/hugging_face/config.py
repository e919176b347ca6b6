"""Values of another library's configuration, and where they stand in a recipe's model, for both ways."""

import dataclasses
import difflib
import itertools
import pathlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import config_of
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.models.model import AnyModel


def _as_it_is(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True)
class Field:
    """One value of both.

    Attributes:
        theirs: Key in their configuration.
        ours: Path of keys in a recipe's `model`, joined by dots.
        default: Value where their configuration has none.
        read: Function from their value to ours.
        write: Function from our value to theirs.
    """

    theirs: str
    ours: str
    default: Any = None
    read: Callable[[Any], Any] = _as_it_is
    write: Callable[[Any], Any] = _as_it_is


# Keys whose values follow from others where a recipe does not state them, with the property that is in force.
_FOLLOWING = {
    "attention.head_width": "head_width",
    "attention.key_value_heads": "key_value_heads",
    "decoder_layers": "blocks_of_decoder",
    "embeddings.projected": "projects_embeddings",
    "embeddings.width": "embedding_width",
    "feed_forward.width": "inner_width",
}
# In the names of all keys that only say how weights start.
_START = "initializer"
# By their names.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_approximate",
    "gelu_pytorch_tanh": "gelu_approximate",
    "gelu_python": "gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}


def whole_number(config: Mapping[str, Any], key: str, default: int) -> int:
    """Returns a whole number of a configuration.

    Example:

    >>> whole_number({"pad_token_id": 3}, "pad_token_id", 1)
    3
    """
    found = config.get(key, default)
    if not isinstance(found, int) or isinstance(found, bool):
        raise InteropError(f"{key}: {found!r} is not a whole number")
    return found


def read_activation(name: str) -> str:
    """Returns our name of an activation.

    Example:

    >>> read_activation("gelu_new")
    'gelu_approximate'
    """
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise InteropError(f"the activation {name!r} is not known; known are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def write_activation(name: str) -> str:
    """Returns their name of an activation.

    Example:

    >>> write_activation("gelu_approximate")
    'gelu_new'
    """
    return next(theirs for theirs, ours in ACTIVATIONS.items() if ours == name)


def activation(theirs: str, default: str = "gelu") -> Field:
    """Returns the field of an activation."""
    return Field(theirs, "feed_forward.activation", default, read_activation, write_activation)


def read_model(
    config: Mapping[str, Any],
    fields: Sequence[Field],
    always: Mapping[str, Any],
    theirs_always: Mapping[str, Any],
) -> Any:
    """Returns the recipe's model that a configuration describes."""
    for key, value in theirs_always.items():
        if (found := config.get(key, value)) != value:
            raise InteropError(f"{key}: {found!r} cannot be expressed here, {value!r} can")
    values = dict(always)
    for field in fields:
        found = config.get(field.theirs)
        found = field.default if found is None else found
        if found is not None:
            try:
                values[field.ours] = field.read(found)
            except InteropError as error:
                raise InteropError(f"{field.theirs}: {error}") from None
            except (TypeError, ValueError):
                raise InteropError(f"{field.theirs}: {found!r} cannot be read") from None
    try:
        return config_of("model", AnyModel, _nested(values))
    except ValueError as error:
        raise InteropError("; ".join(str(error).splitlines())) from None


def write_config(
    model: Any,
    fields: Sequence[Field],
    always: Mapping[str, Any],
    theirs_always: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns the configuration of a recipe's model."""
    if different := differences(model, fields, always, theirs_always):
        raise InteropError(different[0])
    return _written(model, fields, theirs_always)


def differences(
    model: Any,
    fields: Sequence[Field],
    always: Mapping[str, Any],
    theirs_always: Mapping[str, Any],
) -> list[str]:
    """Returns the values of a recipe's model that a configuration cannot express, by key.

    Initialisers are left out, because the weights are there.
    """
    try:
        back = whole_values(read_model(_written(model, fields, theirs_always), fields, always, theirs_always))
    except InteropError as error:
        return [f"model: {error}"]
    ours = whole_values(model)
    return [
        f"model.{path}: {_at(ours, path)!r} cannot be expressed there, {_at(back, path)!r} can"
        for path in _paths(ours)
        if _at(ours, path) != _at(back, path) and _START not in path
    ]


def _written(model: Any, fields: Sequence[Field], theirs_always: Mapping[str, Any]) -> dict[str, Any]:
    stated, whole = model.model_dump(mode="json"), whole_values(model)
    config = dict(theirs_always)
    for field in fields:
        # What neither side states follows from the same other values.
        value = _at(stated if field.default is None else whole, field.ours)
        if value is not None:
            config[field.theirs] = field.write(value)
    return config


def whole_values(model: Any) -> dict[str, Any]:
    """Returns the values of a model, those that follow from others included."""
    values: dict[str, Any] = model.model_dump(mode="json")
    for path, name in _FOLLOWING.items():
        *parents, last = path.split(".")
        place = values
        for parent in parents:
            place = place.get(parent) or {}
        if last in place:
            place[last] = getattr(model, name)
    return values


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in values.items():
        *parents, last = path.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return nested


def _at(values: Any, path: str) -> Any:
    for key in path.split("."):
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def _paths(values: Mapping[str, Any], prefix: str = "") -> list[str]:
    found = []
    for key, value in values.items():
        path = f"{prefix}{key}"
        found += _paths(value, f"{path}.") if isinstance(value, Mapping) and value else [path]
    return found


_FILE = pathlib.Path(__file__).with_name("config_keys.yaml")
_KEYS = read_yaml(_FILE.read_text(encoding="utf-8"), str(_FILE)).data
_OF_ALL = _KEYS.pop("any")
GENERATION = frozenset(_OF_ALL["generation"])
"""Settings of generation; transformers drops them from a model's configuration."""


@dataclasses.dataclass(frozen=True)
class Keys:
    """The keys of a family's configuration that no field reads, as `config_keys.yaml` has them.

    Attributes:
        names: Other names of keys, each with the key, which is transformers' `attribute_map`.
        read: Keys from which the family makes the values of its fields.
        nothing: Keys that change nothing of what a backbone and its heads compute, next to those that
            change nothing in all families.
        only: Keys that do change it, with the values that can be expressed here.
        training: Keys that change the training alone, with the value in force here, or the key that has it.
        needed: Other names that transformers reads after what follows from the key, each with the key of what
            follows, which has to be stated too.
    """

    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    read: Collection[str] = ()
    nothing: Collection[str] = ()
    only: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    needed: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def known(self, others: Collection[str]) -> set[str]:
        """Returns all keys that are used, or that change nothing, or that have a value which does not."""
        own = {*self.names, *self.read, *self.nothing, *self.only, *self.training}
        return {*own, *itertools.chain(*_OF_ALL.values()), *others}

    def plain(self, config: Mapping[str, Any], others: Collection[str]) -> dict[str, Any]:
        """Returns a configuration in which each value has the key that fields know."""
        plain = dict(config)
        for name, key in self.needed.items():
            if name in plain and key not in plain:
                raise InteropError(f"{name}: {plain[name]!r} cannot be read without {key} next to it")
        for name, key in self.names.items():
            if name in plain and plain.setdefault(key, plain[name]) != plain[name]:
                raise InteropError(f"{name}: {plain[name]!r} differs from {key}: {plain[key]!r}")
            plain.pop(name, None)
        known = self.known(others)
        for key in plain:
            if key not in known:
                near = [f" ({suggest(key, known)})" for _ in difflib.get_close_matches(key, known, n=1)]
                raise InteropError(
                    f"{key}: {plain[key]!r} is not known here{''.join(near)}, and the published model may "
                    "compute something else with it; if it changes nothing, take it out of config.json"
                )
        for key, values in {**_OF_ALL["only"], **self.only}.items():
            if key in plain and key not in others and plain[key] not in values:
                able = " or ".join(map(repr, values))
                raise InteropError(f"{key}: {plain[key]!r} cannot be expressed here, {able} can")
        return plain

    def notes(self, config: Mapping[str, Any]) -> Iterator[str]:
        """Yields which keys change training, or how texts are written, in a way that is not in force here."""
        for key, value in self.training.items():
            here = config.get(value) if isinstance(value, str) else value
            if here is not None and config.get(key, here) != here:
                yield f"{key}: {config[key]} is of the training alone, where {here} is in force here"
        # Ids of tokens are those of the tokenizer and the objective.
        written = [key for key in config if key in GENERATION and not key.endswith("_token_id")]
        if said := sorted(key for key in written if config[key] is not None):
            yield f"{', '.join(said)}: of how texts are written, which is not read here"


KEYS = {model_type: Keys(**keys) for model_type, keys in _KEYS.items()}
"""The keys of each family by its `model_type`; a family without any is not among them."""
