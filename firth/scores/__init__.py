"""Published scores as pure functions from references and predictions to floats, in the table `SCORES`.

Their libraries are imported on first use.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
