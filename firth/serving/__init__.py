"""Serving: the exported model, its validation in a fresh process, and a local client.

Names load on first use, so that the client needs neither Keras nor TFX.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.serving.client import Candidate, Client, NoModelError, Scored
    from firth.serving.saved_model import export
    from firth.serving.validation import validate_serving

_HOMES = {
    "Candidate": "client",
    "Client": "client",
    "NoModelError": "client",
    "Scored": "client",
    "export": "saved_model",
    "validate_serving": "validation",
}

__all__ = ["Candidate", "Client", "NoModelError", "Scored", "export", "validate_serving"]

__getattr__ = lazy_names(__name__, _HOMES)
