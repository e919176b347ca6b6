"""Questions on the types of parameters, whose answers are parts of a docstring."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from firth.corpus.documents.hashing import hash63
from firth.tasks.docstrings.texts import DocstringText
from firth.tasks.readers import LabelledRecord
from firth.tasks.readers.records import CONTEXT, QUESTION, AnswerSpan

_MOST_WORDS = 120
_TITLE = re.compile(r"^[ \t]*(Parameters[ \t]*\n[ \t]*-{3,}|Args:|Arguments:)[ \t]*\n", re.MULTILINE)
# The next section: a title with a line under it, or a word with a colon that is not indented.
_END = re.compile(r"^[ \t]*\w[\w ]*\n[ \t]*-{3,}[ \t]*$|^\w[\w ]*:[ \t]*$", re.MULTILINE)
# A word of a type: `np.ndarray`, `array-like`, `dict[str, list[int]]`.
_TYPE = r"[\w|-]+(?:\.[\w|-]+)*(?:\[[^\]\n]*\]+)?"
# `name : type` after numpydoc; `name (type): ...` after Google's guide.
_ENTRY = re.compile(
    rf"^(?P<name>\w+)(?: : | \()(?P<type>(?=[A-Za-z_]){_TYPE}(?: (?!optional){_TYPE}){{0,5}})(?=$|,|\.$|\))"
)


class _Entry(NamedTuple):
    name: str
    type: AnswerSpan


def type_records(texts: Sequence[DocstringText]) -> Iterator[LabelledRecord]:
    """Yields a question on a parameter for each docstring that states the types of two or more.

    The context is the beginning of its section on parameters.
    """
    for each in texts:
        context, entries = _entries(_section(each.text), each.parameters)
        if len(entries) > 1:
            name, answer = entries[hash63("entry", each.id) % len(entries)]
            texts_by_role = {QUESTION: f"What is the type of {name}?", CONTEXT: context}
            yield LabelledRecord(each.id, texts_by_role, (answer,), each.file, each.line)


def _section(text: str) -> str:
    title = _TITLE.search(text)
    if title is None:
        return ""
    rest = text[title.end() :]
    end = _END.search(rest)
    return rest[: end.start()] if end else rest


def _entries(section: str, parameters: Sequence[str]) -> tuple[str, list[_Entry]]:
    """Returns the first words of a section in one line, and the parameters with a type in it."""
    context, entries, words = "", [], 0
    for line in section.splitlines():
        stripped = " ".join(line.split())
        words += len(stripped.split())
        if words > _MOST_WORDS:
            break
        start = len(context) + bool(context and stripped)
        context = f"{context} {stripped}".strip()
        found = _ENTRY.match(stripped)
        if found and found["name"] in parameters:
            entries.append(_Entry(found["name"], AnswerSpan(found["type"], start + found.start("type"))))
    return context, entries
