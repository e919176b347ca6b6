"""Docstrings become Markdown that griffe's parser takes."""

import inspect

from scripts.docs.docstring_markdown import as_markdown

DOCSTRING = """Adds.

    Args:
        low, high: Bounds
            of it.
        step: Between them.

    Call arguments:
        hidden: Float tensor [batch, length],
            not masked.
        training: Whether dropout acts.

    Example:

    >>> add(1,
    ...     2)
    3

    More is said here.
    """

MARKDOWN = """Adds.

Args:
    low: Bounds
        of it.
    high: Bounds
        of it.
    step: Between them.

**Call arguments:**

- `hidden`: Float tensor [batch, length], not masked.
- `training`: Whether dropout acts.

Example:

```pycon
>>> add(1,
...     2)
3
```

More is said here."""


def test_examples_lists_and_joined_names():
    found = as_markdown(inspect.cleandoc(DOCSTRING))
    assert [line for line in found.splitlines() if line] == [line for line in MARKDOWN.splitlines() if line]
    assert "\n\n```pycon\n" in found and "**Call arguments:**\n\n- " in found
