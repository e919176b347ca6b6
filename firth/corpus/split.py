"""Train and eval."""

from firth.corpus.hashing import unit_hash

TRAIN, EVAL = "train", "eval"
SPLITS = (TRAIN, EVAL)


def split_of(text: str, eval_fraction: float) -> str:
    """Returns the split of a text: by its hash alone, so that the same text is never in both.

    Example:

    >>> split_of("Call me Ishmael.", eval_fraction=0.999)
    'eval'
    """
    return EVAL if unit_hash("split", text) < eval_fraction else TRAIN
