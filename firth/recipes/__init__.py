"""Recipes: the language of a run. Importing this loads neither TensorFlow nor TFX."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
