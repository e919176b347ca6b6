"""Activations as KerasHub's configurations say them."""

from typing import Any

import keras

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config_fields import Field

_NAMES = {"gelu": "gelu", "relu": "relu", "silu": "silu", "swish": "silu"}
_APPROXIMATE, _REGISTERED = "gelu_approximate", "keras_hub>gelu_approximate"


def named_activation(key: str = "activation") -> Field:
    """Returns the field of an activation that Keras knows by name."""
    return Field(key, "feed_forward.activation", None, _read_name, _write_name)


def any_activation(key: str = "activation") -> Field:
    """Returns the field of an activation that may be KerasHub's approximate GELU, too."""
    return Field(key, "feed_forward.activation", None, _read, _write)


def _read_name(value: Any) -> str:
    if not isinstance(value, str) or value not in _NAMES:
        raise InteropError(f"the activation {value!r} is not known; known are {', '.join(_NAMES)}")
    return _NAMES[value]


def _write_name(name: str) -> str:
    if name not in _NAMES:
        raise InteropError(f"{name!r} is not known there; known are {', '.join(_NAMES)}")
    return name


def _read(value: Any) -> str:
    if callable(value) or isinstance(value, dict):
        # The function itself, or what it is when it is written down.
        said = value if isinstance(value, dict) else keras.saving.serialize_keras_object(value)
        value = said.get("config")
        if value in (_REGISTERED, _REGISTERED.replace("_hub", "_nlp")):
            return _APPROXIMATE
    return _read_name(value)


def _write(name: str) -> Any:
    if name != _APPROXIMATE:
        return _write_name(name)
    # KerasHub registers the function, and exports it by no other public name.
    return keras.saving.get_registered_object(_REGISTERED)
