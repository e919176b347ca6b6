"""Checks of arguments that are dicts, whose keys and kinds are those of the recipe's types.

The types are imported where a dict is checked: importing layers loads no pydantic.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firth.recipes.base.recipe_type import Config


def check_block_parts(layer: str, **parts: Mapping | None) -> None:
    """Raises `ValueError` as `check_part` does, for the arguments that describe a transformer block.

    Args:
        layer: Name of the layer, for the message.
        **parts: `attention`, `feed_forward`, `norm`, `positions`, `embeddings` or `share_layers`.

    Example:

    >>> check_block_parts("TransformerBlock", norm={"kind": "rms_nrom"}, feed_forward=None)
    Traceback (most recent call last):
    ValueError: TransformerBlock: `norm` has no kind 'rms_nrom'; did you mean rms_norm?
    """
    if all(part is None for part in parts.values()):
        return
    from firth.recipes.models import blocks

    types: dict[str, Any] = {
        "attention": blocks.AttentionConfig,
        "feed_forward": blocks.FeedForwardConfig,
        "norm": blocks.NormConfig,
        "positions": blocks.Positions,
        "embeddings": blocks.EmbeddingsConfig,
        "share_layers": blocks.SharedLayersConfig,
    }
    for name, part in parts.items():
        check_part(layer, name, part, types[name])


def check_part(layer: str, name: str, part: Mapping | None, annotation: Any) -> None:
    """Raises `ValueError` unless a recipe's type has each key of a dict, and its kind, at every depth.

    Args:
        layer: Name of the layer, for the message.
        name: Name of the argument.
        part: The argument; None is always right.
        annotation: The recipe's type, or several that are told apart by `kind`.

    Example:

    >>> from firth.recipes.models.blocks import EmbeddingsConfig
    >>> check_part("Backbone", "embeddings", {"widht": 8}, EmbeddingsConfig)
    Traceback (most recent call last):
    ValueError: Backbone: `embeddings` has no key 'widht'; did you mean width?
    """
    if part is None:
        return
    if not isinstance(part, Mapping):
        raise ValueError(f"{layer}: `{name}` must be a dict or None. Received: {name}={part!r}")
    from firth.recipes.base.errors import suggest
    from firth.recipes.base.types import configs_in

    config = _config_of(layer, name, part, configs_in(annotation))
    for key, value in part.items():
        if key not in config.model_fields:
            nearest = suggest(str(key), config.model_fields)
            raise ValueError(f"{layer}: `{name}` has no key {key!r}; {nearest}")
        below = config.model_fields[key].annotation
        if configs_in(below):
            check_part(layer, f"{name}.{key}", value, below)


def _config_of(layer: str, name: str, part: Mapping, configs: list[Any]) -> "type[Config]":
    from firth.recipes.base.errors import suggest
    from firth.recipes.base.types import kinds_of

    kinds = {kind: config for config in configs for kind in kinds_of(config)}
    if "kind" not in part and len(configs) == 1:
        return configs[0]
    if "kind" not in part:
        raise ValueError(f"{layer}: `{name}` needs a `kind`, one of: {', '.join(kinds)}. Received: {part!r}")
    if kinds and part["kind"] not in kinds:
        raise ValueError(
            f"{layer}: `{name}` has no kind {part['kind']!r}; {suggest(str(part['kind']), kinds)}"
        )
    return kinds[part["kind"]] if kinds else configs[0]
