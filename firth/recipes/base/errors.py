"""The error for recipes that cannot be used, and suggestions of valid names."""

import difflib
from collections.abc import Iterable, Sequence


class RecipeError(ValueError):
    r"""A recipe that cannot be read, or that asks for what cannot work.

    Args:
        problems: One line for each problem found, with its file and line (or its option) and its key. They
            are kept as the attribute `problems`.

    Example:

    >>> str(RecipeError(["a.yaml:1:1: steps: unknown key", "a.yaml:2:1: name: required"]))
    'a.yaml:1:1: steps: unknown key\na.yaml:2:1: name: required'
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def suggest(given: str, valid: Iterable[str]) -> str:
    """Returns which of the valid names is meant, in words; all of them if no name is near.

    Example:

    >>> suggest("bert_minni", ["bert_mini", "demo"])
    'did you mean bert_mini?'
    >>> suggest("xlnet", ["bert_mini", "demo"])
    'one of: bert_mini, demo'
    >>> suggest("EN", ["de", "en"])
    'did you mean en?'
    """
    names = list(valid)
    # Case counts last, so that the very name is taken where several differ in nothing else.
    found = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    folded = {name.casefold(): name for name in names}
    near = found or [folded[each] for each in difflib.get_close_matches(given.casefold(), folded, n=1)]
    return f"did you mean {near[0]}?" if near else f"one of: {', '.join(names)}"


def first_of(parts: Sequence[str], most: int = 3, separator: str = ", ") -> str:
    """Returns the first few of several parts as one text, which says how many more there are.

    Example:

    >>> first_of(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return separator.join(parts[:most]) + more
