"""What a recipe type's docstring says of it and of each of its keys."""

import inspect
import re

_SECTION = re.compile(r"^(Attributes|Args|Raises|Returns|Example|Examples|Note):.*$", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+(?:,\s+\w+)*): (.+?)(?=^    \w|\Z)", re.MULTILINE | re.DOTALL)

_AS_IN = re.compile(r"As in `(\w+)`\.")


def summary(config: type) -> str:
    """Returns the docstring of a type up to its first section.

    Args:
        config: A recipe type.

    Example:

    >>> class Size:
    ...     '''A size.
    ...
    ...     Attributes:
    ...         width: Hidden units
    ...             of a token.
    ...         height, depth: Both at once.
    ...     '''
    >>> summary(Size)
    'A size.'
    """
    return _SECTION.split(inspect.cleandoc(config.__doc__ or ""))[0].strip()


def descriptions(config: type) -> dict[str, str]:
    """Returns the text of each key that a type documents under `Attributes:`, or inherits from its bases.

    Args:
        config: A recipe type.

    Example:

    >>> class Size:
    ...     '''A size.
    ...
    ...     Attributes:
    ...         width: Hidden units
    ...             of a token.
    ...         height, depth: Both at once.
    ...     '''
    >>> class Large(Size):
    ...     '''A large one.'''
    >>> descriptions(Large)
    {'width': 'Hidden units of a token.', 'height': 'Both at once.', 'depth': 'Both at once.'}
    """
    found: dict[str, str] = {}
    for base in reversed(config.__mro__):
        found |= _own_descriptions(vars(base).get("__doc__") or "")
    return found


def resolved(config: type, types: dict[str, type]) -> dict[str, str]:
    """Returns the same as `descriptions`, with the other type's text where a key is said to be as there.

    Args:
        config: A recipe type.
        types: Recipe types by name.

    Example:

    >>> class AdamW:
    ...     '''An optimizer.
    ...
    ...     Attributes:
    ...         rate: Step size.
    ...     '''
    >>> class Lamb:
    ...     '''Another optimizer.
    ...
    ...     Attributes:
    ...         rate: As in `AdamW`.
    ...     '''
    >>> resolved(Lamb, {"AdamW": AdamW})
    {'rate': 'Step size.'}
    """
    found = descriptions(config)
    for key, text in found.items():
        elsewhere = _AS_IN.fullmatch(text)
        if elsewhere and elsewhere[1] in types:
            found[key] = resolved(types[elsewhere[1]], types)[key]
    return found


def _own_descriptions(docstring: str) -> dict[str, str]:
    _, *sections = _SECTION.split(inspect.cleandoc(docstring))
    texts = [text for title, text in zip(sections[::2], sections[1::2]) if title == "Attributes"]
    return {
        name: " ".join(text.split())
        for section in texts
        for names, text in _ENTRY.findall(section)
        for name in re.split(r",\s+", names)
    }
