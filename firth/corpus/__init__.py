"""From raw text to packed rows of tokens, on Apache Beam.

Names load on first use, since Beam takes seconds to import.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
