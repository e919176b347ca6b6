"""Serving: the exported model, its validation in a fresh process, and a local client.

Names load on first use, so that the client needs neither Keras nor TFX.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firth.serving.client import Candidate, Client, NoModelError
    from firth.serving.saved_model import export
    from firth.serving.validation import validate_serving

_HOMES = {
    "Candidate": "client",
    "Client": "client",
    "NoModelError": "client",
    "export": "saved_model",
    "validate_serving": "validation",
}

__all__ = ["Candidate", "Client", "NoModelError", "export", "validate_serving"]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
