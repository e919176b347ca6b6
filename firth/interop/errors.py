"""The error of what cannot be brought in or out."""


class InteropError(ValueError):
    """A model, a tokenizer or a file that cannot be expressed on the other side."""
