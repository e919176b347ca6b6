"""Reports: the page on a run, and the page that compares runs.

Names load on first use, so that the command line can print durations without loading Matplotlib.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
