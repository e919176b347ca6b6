"""The recipe types that layers are made of. They load with the first layer, not with the import of layers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from firth.recipes.models.blocks import NormConfig
    from firth.recipes.models.positions import Positions, RotaryScalingConfig
    from firth.recipes.models.stack import StackConfig as StackConfig
    from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

# A recipe type, or a mapping of its values.
AnyStack: TypeAlias = "StackConfig | Mapping[str, Any]"
AnyTwoStreams: TypeAlias = "TwoStreamTransformerConfig | Mapping[str, Any]"


def __getattr__(name: str) -> Any:
    """Returns `StackConfig`, which `firth.layers` exports, on its first use (PEP 562)."""
    if name != "StackConfig":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from firth.recipes.models.stack import StackConfig

    return StackConfig


def stack_of(values: AnyStack) -> "StackConfig":
    """Returns the config of a stack of blocks, given as it is, within a model's config, or as plain values.

    Raises:
        ValueError: for a key or a value that does not fit, with the nearest valid name.

    Example:

    >>> stack_of({"width": 8, "attention": {"heads": 2}}).inner_width
    32
    >>> stack_of({"widht": 8})
    Traceback (most recent call last):
        ...
    ValueError: StackConfig: widht: unknown key; did you mean width?
    """
    from firth.recipes.models.stack import StackConfig

    return StackConfig.of(values).stack


def two_streams_of(values: AnyTwoStreams) -> "TwoStreamTransformerConfig":
    """Returns the config of XLNet's stack, given as it is or as plain values; as `stack_of`.

    Raises:
        ValueError: as `stack_of` does.
    """
    from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

    return TwoStreamTransformerConfig.of(values)


def positions_of(values: "Positions | Mapping[str, Any] | None") -> "Positions | None":
    """Returns positions of any kind, given as they are or as plain values; None for None.

    Raises:
        ValueError: as `stack_of` does.

    Example:

    >>> positions_of({"kind": "rotari"})
    Traceback (most recent call last):
        ...
    ValueError: positions: kind: unknown kind 'rotari'; did you mean rotary?
    """
    from firth.recipes.base.recipe_type import config_of
    from firth.recipes.models.positions import Positions

    return None if values is None else config_of("positions", Positions, values)


def norm_of(values: "NormConfig | Mapping[str, Any] | None") -> "NormConfig | None":
    """Returns a norm's kind and settings, given as they are or as plain values; None for None.

    Raises:
        ValueError: as `stack_of` does.
    """
    from firth.recipes.models.blocks import NormConfig

    return None if values is None else NormConfig.of(values)


def rotary_scaling_of(
    values: "RotaryScalingConfig | Mapping[str, Any] | None",
) -> "RotaryScalingConfig | None":
    """Returns the stretching of rotary frequencies, given as it is or as plain values; None for None.

    Raises:
        ValueError: as `stack_of` does.
    """
    from firth.recipes.models.positions import RotaryScalingConfig

    return None if values is None else RotaryScalingConfig.of(values)
