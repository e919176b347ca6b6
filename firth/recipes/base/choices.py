"""One part of several kinds, from plain values."""

from collections.abc import Mapping
from typing import Any

from firth.recipes.base.errors import suggest
from firth.recipes.base.types import configs_in, kinds_of


def config_of(name: str, choices: Any, values: Any) -> Any:
    """Returns a part as it is, or the part that plain values describe, of the kind that they name.

    Example:

    >>> from firth.recipes.training.optimizers import AnyOptimizer
    >>> config_of("optimizer", AnyOptimizer, {"kind": "adam_w"}).kind
    Traceback (most recent call last):
        ...
    ValueError: optimizer: kind: unknown kind 'adam_w'; did you mean adamw?
    """
    by_kind: dict[str, Any] = {kind: config for config in configs_in(choices) for kind in kinds_of(config)}
    if isinstance(values, tuple(by_kind.values())):
        return values
    kind = values.get("kind") if isinstance(values, Mapping) else None
    if kind is None:
        raise ValueError(
            f"{name}: must be a mapping with a `kind`, one of: {', '.join(by_kind)}; not {values!r}"
        )
    if kind not in by_kind:
        raise ValueError(f"{name}: kind: unknown kind {kind!r}; {suggest(str(kind), by_kind)}")
    return by_kind[kind].of(values)
