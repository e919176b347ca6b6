"""Training: from rows on disk to a trained model. The TFX Trainer calls `firth.training.run_fn.run_fn`.

Example:

>>> import firth.training
>>> "train" in dir(firth.training)
True
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
