"""Labelled records made of docstrings, for people who have no labelled data."""

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from firth.corpus.documents.hashing import hash63
from firth.recipes.tasks.data import DocstringsData
from firth.tasks.labelled.docstrings import PARAGRAPH, DocstringText, docstring_texts, python_files
from firth.tasks.readers import (
    ClassLabels,
    LabelledRecord,
    LabelledRecords,
    SpanLabels,
    TagLabels,
    TextLabels,
)
from firth.tasks.readers.labels import AnyLabels
from firth.tasks.readers.records import CONTEXT, PAIR, QUESTION, TEXT, WORDS, AnswerSpan, Label

NOT_A_PARAMETER, PARAMETER = "O", "B-parameter"
NO, YES = "no", "yes"
# Fewest and most words of each kind of text.
_SUMMARY, _BODY, _TEXT, _WORDS = (3, 40), (8, 100), (6, 60), (5, 64)
# Each package has as many texts of a length, rounded to so many words, as each other package.
_WORDS_A_BUCKET = 2
# Before a name, and after it.
_MARKS, _MARKS_AFTER = frozenset("`*"), frozenset("`*:")
_WORD = re.compile(r"\w+|[^\w\s]")
_MOST_SECTION_WORDS = 120
_SECTION_TITLE = re.compile(r"^[ \t]*(Parameters[ \t]*\n[ \t]*-{3,}|Args:|Arguments:)[ \t]*\n", re.MULTILINE)
# The next section: a title with a line under it, or a word with a colon that is not indented.
_SECTION_END = re.compile(r"^[ \t]*\w[\w ]*\n[ \t]*-{3,}[ \t]*$|^\w[\w ]*:[ \t]*$", re.MULTILINE)
# A word of a type: `np.ndarray`, `array-like`, `dict[str, list[int]]`.
_TYPE = r"[\w|-]+(?:\.[\w|-]+)*(?:\[[^\]\n]*\]+)?"
# `name : type` after numpydoc; `name (type): ...` after Google's guide.
_TYPED_PARAMETER = re.compile(
    rf"^(?P<name>\w+)(?: : | \()(?P<type>(?=[A-Za-z_]){_TYPE}(?: (?!optional){_TYPE}){{0,5}})(?=$|,|\.$|\))"
)


class DocstringTask(NamedTuple):
    """A task on docstrings.

    Attributes:
        title: Title of the task, for errors.
        roles: Roles of the texts of a record.
        labels: What the label can be.
        scores: Names of scores, the headline first.
        records: Returns the records of different docstrings.
    """

    title: str
    roles: tuple[str, ...]
    labels: AnyLabels
    scores: tuple[str, ...]
    records: Callable[[Sequence[DocstringText]], Iterable[LabelledRecord]]


def docstring_task(data: DocstringsData) -> DocstringTask:
    """Returns the task on docstrings that the data name."""
    return DOCSTRING_TASKS[data.task](data)


def docstring_records(data: DocstringsData) -> LabelledRecords:
    """Returns the records of a task, the same ones in every run: what is chosen follows from hashes.

    Raises:
        firth.corpus.SourceError: if a package is not installed.
        RefusedFileError: if there is no record.
    """
    texts, rejected = docstring_texts(python_files(data.packages))
    found = LabelledRecords(", ".join(data.packages), rejected=rejected)
    different: dict[Hashable, LabelledRecord] = {}
    for record in docstring_task(data).records(texts):
        different.setdefault(tuple(sorted(record.texts.items())), record)
    found.records = sorted(different.values(), key=_place)[: data.max_records]
    found.check_any()
    return found


def _place(of: LabelledRecord | DocstringText) -> int:
    return hash63("place", of.id)


def _record(of: DocstringText, label: Label, **texts: str | tuple[str, ...]) -> LabelledRecord:
    return LabelledRecord(of.id, texts, label, of.file, of.line)


def _words(text: str, limits: tuple[int, int]) -> str:
    """Returns the first words of a text; an empty text if it has too few."""
    fewest, most = limits
    words = text.split()
    return " ".join(words[:most]) if len(words) >= fewest else ""


def _package_records(packages: Sequence[str], texts: Sequence[DocstringText]) -> Iterator[LabelledRecord]:
    """Yields as many records of each length of each package, without those that name their package."""
    by_length: dict[int, dict[str, list[LabelledRecord]]] = {}
    for each in sorted(texts, key=_place):
        text = _words(f"{each.summary} {each.body}", _TEXT)
        if text and each.package not in _WORD.findall(text.casefold()):
            of_length = by_length.setdefault(len(text.split()) // _WORDS_A_BUCKET, {})
            of_length.setdefault(each.package, []).append(_record(each, each.package, **{TEXT: text}))
    for of_length in by_length.values():
        count = min(len(of_length.get(package, ())) for package in packages)
        for records in of_length.values():
            yield from records[:count]


def _summaries(texts: Sequence[DocstringText]) -> list[DocstringText]:
    """Returns the docstrings with a summary and a body that no earlier one has, the body cut to length."""
    summaries: dict[str, DocstringText] = {}
    bodies: dict[str, DocstringText] = {}
    for each in texts:
        body = _words(each.body, _BODY)
        if body and _SUMMARY[0] <= len(each.summary.split()) <= _SUMMARY[1]:
            summaries.setdefault(each.summary.casefold(), each._replace(body=body))
    for each in summaries.values():
        bodies.setdefault(each.body.casefold(), each)
    return list(bodies.values())


def _summary_records(texts: Sequence[DocstringText]) -> Iterator[LabelledRecord]:
    """Yields two records of two docstrings of a package whose bodies are next to each other in length.

    Both are right, or both have the other's body. Each text is in one record, and no length tells the label.
    """
    by_package: dict[str, list[DocstringText]] = {}
    for each in _summaries(texts):
        by_package.setdefault(each.package, []).append(each)
    for found in by_package.values():
        found.sort(key=lambda each: (len(each.body.split()), _place(each)))
        couples = sorted(zip(found[::2], found[1::2]), key=lambda couple: _place(couple[0]))
        for number, (first, second) in enumerate(couples):
            right = number % 2 == 0
            for each, other in ((first, second), (second, first)):
                body = each.body if right else other.body
                yield _record(each, YES if right else NO, **{TEXT: each.summary, PAIR: body})


def _parameter_records(texts: Sequence[DocstringText]) -> Iterator[LabelledRecord]:
    """Yields the first paragraph of each docstring that clearly names parameters."""
    for each in texts:
        names = set(each.parameters)
        for paragraph in PARAGRAPH.split(each.prose) if names else ():
            words = tuple(_WORD.findall(paragraph))
            if _WORDS[0] <= len(words) <= _WORDS[1] and _tells(words, names):
                tags = tuple(PARAMETER if word in names else NOT_A_PARAMETER for word in words)
                yield _record(each, tags, **{WORDS: words})
                break


def _tells(words: Sequence[str], names: set[str]) -> bool:
    """Returns whether words name parameters, and each name is one: `a` and `path` may be English too.

    A name is one if it is marked, described after a colon, or no English word by its looks.
    """
    found = [place for place, word in enumerate(words) if word in names]
    around = ["", *words, ""]
    return bool(found) and all(
        around[place] in _MARKS or around[place + 2] in _MARKS_AFTER or not words[place].isalpha()
        for place in found
    )


def _summarising_records(texts: Sequence[DocstringText]) -> Iterator[LabelledRecord]:
    """Yields a body, and its summary to write."""
    for each in _summaries(texts):
        yield _record(each, each.summary, **{TEXT: each.body})


class _Entry(NamedTuple):
    name: str
    type: AnswerSpan


def _type_records(texts: Sequence[DocstringText]) -> Iterator[LabelledRecord]:
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
    title = _SECTION_TITLE.search(text)
    if title is None:
        return ""
    rest = text[title.end() :]
    end = _SECTION_END.search(rest)
    return rest[: end.start()] if end else rest


def _entries(section: str, parameters: Sequence[str]) -> tuple[str, list[_Entry]]:
    """Returns the first words of a section in one line, and the parameters with a type in it."""
    context, entries, words = "", [], 0
    for line in section.splitlines():
        stripped = " ".join(line.split())
        words += len(stripped.split())
        if words > _MOST_SECTION_WORDS:
            break
        start = len(context) + bool(context and stripped)
        context = f"{context} {stripped}".strip()
        found = _TYPED_PARAMETER.match(stripped)
        if found and found["name"] in parameters:
            entries.append(_Entry(found["name"], AnswerSpan(found["type"], start + found.start("type"))))
    return context, entries


def _of_packages(data: DocstringsData) -> DocstringTask:
    packages = tuple(dict.fromkeys(data.packages))
    return DocstringTask(
        "the package of a docstring",
        (TEXT,),
        ClassLabels(packages),
        ("accuracy",),
        functools.partial(_package_records, packages),
    )


_SUMMARIES = DocstringTask(
    "summaries and bodies of docstrings",
    (TEXT, PAIR),
    ClassLabels((NO, YES)),
    ("accuracy",),
    _summary_records,
)
_PARAMETERS = DocstringTask(
    "parameters in docstrings",
    (WORDS,),
    TagLabels((NOT_A_PARAMETER, PARAMETER)),
    ("entity_f1",),
    _parameter_records,
)
_TYPES = DocstringTask(
    "types of parameters",
    (QUESTION, CONTEXT),
    SpanLabels(False),
    ("squad_exact_match", "squad_f1"),
    _type_records,
)
_SUMMARISING = DocstringTask(
    "summaries of bodies", (TEXT,), TextLabels(), ("rouge_l", "rouge_1", "rouge_2"), _summarising_records
)
# By `data.task`.
DOCSTRING_TASKS: dict[str, Callable[[DocstringsData], DocstringTask]] = {
    "package": _of_packages,
    "summary": lambda data: _SUMMARIES,
    "parameters": lambda data: _PARAMETERS,
    "type": lambda data: _TYPES,
    "summarise": lambda data: _SUMMARISING,
}
