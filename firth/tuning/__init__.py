"""Methods: what of a model is trained when it is adapted, and what is added to it."""

from firth.tuning.table import METHODS

__all__ = ["METHODS"]
