"""Serving: the exported model, its validation in a fresh process, and a local client.

Names load on first use, so that the client needs neither Keras nor TFX.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
