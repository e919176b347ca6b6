"""Docstrings as the site shows them: examples as code, sections that griffe does not know as lists."""

import inspect
import re

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
_LISTS = re.compile(r"^(Call arguments|Outputs|A row holds):\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
# A paragraph of tensors, each with its dtype: `token_ids, position_ids: int32 [length].`
_TENSORS = re.compile(
    r"^(?:[\w<>]+(?:, [\w<>]+)*: (?:int|float|bool).*\n(?:    .*\n)*)+(?=\n|\Z)", re.MULTILINE
)
_TENSOR = re.compile(r"^(\S[^:]*): (.+?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
# Results that are described by a sentence, and not by their names.
_RESULT = re.compile(r"^(Returns|Yields):\n    (?!\w+: )", re.MULTILINE)
_JOINED = re.compile(r"^    (\w+(?:,\s+\w+)+): (.+?)(?=^    \w|^\S|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^    (\w+): (.+?)(?=^    \w|\Z)", re.MULTILINE | re.DOTALL)


def as_markdown(docstring: str) -> str:
    r"""Returns a docstring with its examples fenced, its own sections as lists and a line for each name.

    Args:
        docstring: The docstring, without the indentation of the source.

    Example:

    >>> as_markdown("Adds.\n\nOutputs:\n    sum: Of both.")
    'Adds.\n\n**Outputs:**\n\n- `sum`: Of both.'
    >>> as_markdown("Args:\n    low, high: Bounds.")
    'Args:\n    low: Bounds.\n    high: Bounds.'
    """
    text = _JOINED.sub(_one_by_one, f"{docstring}\n")
    text = _TENSORS.sub(_tensors, text)
    # griffe takes the words before the first colon for a type; here there are none.
    text = _RESULT.sub(r"\1:\n    : ", text)
    text = _LISTS.sub(lambda found: f"**{found[1]}:**\n\n{_list(found[2])}\n", text)
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text).strip()


def _one_by_one(entry: re.Match) -> str:
    """Returns an entry on several names, `low, high: Bounds.`, as an entry for each."""
    text = entry[2].rstrip()
    lines = [f"    {name}: {text}\n" for name in re.split(r",\s+", entry[1])]
    return "".join(lines) + entry[2][len(text) + 1 :]


def _tensors(paragraph: re.Match) -> str:
    """Returns lines such as `low, high: int32 [batch].` as a list."""
    entries = [
        (", ".join(f"`{name}`" for name in names.split(", ")), " ".join(text.split()))
        for names, text in _TENSOR.findall(paragraph[0])
    ]
    return "".join(f"- {names}: {text}\n" for names, text in entries)


def _list(section: str) -> str:
    entries = _ENTRY.findall(section)
    if not entries:
        return inspect.cleandoc(section) + "\n"
    return "".join(f"- `{name}`: {' '.join(text.split())}\n" for name, text in entries)
