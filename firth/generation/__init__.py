"""Texts that a trained model writes, token by token.

Example:

    from firth.generation import load_generator

    generator = load_generator("firth-runs/name/bundle")
    print(generator.generate("Once upon a time").text)
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
