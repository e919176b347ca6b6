"""Evaluation: exact metrics from per-example sums, and their computation in TFMA.

Names load on first use: `metrics` is plain Python, the others load TFMA.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
