"""Docstrings as the site shows them: examples as code, sections that griffe does not know as lists."""

import inspect
import re

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
_LISTS = re.compile(r"^(Call arguments|Outputs):\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
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
    text = _LISTS.sub(lambda found: f"**{found[1]}:**\n\n{_list(found[2])}\n", text)
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text).strip()


def _one_by_one(entry: re.Match) -> str:
    """Returns an entry on several names, `low, high: Bounds.`, as an entry for each."""
    text = entry[2].rstrip()
    lines = [f"    {name}: {text}\n" for name in re.split(r",\s+", entry[1])]
    return "".join(lines) + entry[2][len(text) + 1 :]


def _list(section: str) -> str:
    entries = _ENTRY.findall(section)
    if not entries:
        return inspect.cleandoc(section) + "\n"
    return "".join(f"- `{name}`: {' '.join(text.split())}\n" for name, text in entries)
