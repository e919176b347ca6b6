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


def test_tensors_of_a_paragraph_are_a_list():
    found = as_markdown(
        """Returns the specs.

low, <task>_labels: int32 [length], zeros
    after.
weights: float32 [length].

Raises:
    ValueError: float32 is refused.
"""
    )
    lines = ["- `low`, `<task>_labels`: int32 [length], zeros after.", "- `weights`: float32 [length]."]
    assert found.splitlines()[2:4] == lines
    assert "    ValueError: float32 is refused." in found


def test_a_result_in_a_sentence_has_no_type_before_its_colon():
    found = as_markdown("Answers.\n\nReturns:\n    A dict, such as `{1: 2}`.\n")
    assert found.endswith("Returns:\n    : A dict, such as `{1: 2}`.")
    assert "    losses: Sums." in as_markdown("Adds.\n\nReturns:\n    losses: Sums.\n")
