"""Answers of a signature to all records of a file."""

import itertools
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

from firth import storage
from firth.recipes.tasks.tasks import AnyTask, task_from_json
from firth.serving.answers import printed_fields
from firth.serving.batch.task_prompts import read_prompts, several_tasks
from firth.serving.batch.texts import TEXT, TextRecord, Unread, read_texts
from firth.serving.client import Client
from firth.serving.exported_model import read_description
from firth.tasks.readers.formats import format_of, read_file
from firth.tasks.readers.records import RefusedFileError, RejectedLine

# Records that the model is asked about at a time.
BATCH = 64
# Batches whose records are sorted by length, so that little of a batch is padding.
SORTED_BATCHES = 16
# Bytes of answers in memory; those of more are in a temporary file until they can be written in order.
_HELD_BYTES = 2**26
_ENDING = ".jsonl"


class Predicted(NamedTuple):
    """Counts of the records of a file that were answered, and that could not be read.

    Attributes:
        answered: Number of records that are answered.
        unread: Numbers of records that could not be read, by reason.
        first_unread: The first of those.
        truncated: Number of answered records of whose texts a part was not read.
    """

    answered: int
    unread: Counter[str]
    first_unread: list[RejectedLine]
    truncated: int = 0


def predict_file(
    client: Client,
    name: str,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    progress: Callable[[int], None] = lambda answered: None,
    quoted: bool | None = None,
    data_source: str = "",
) -> Predicted:
    """Asks a signature about the records of a file, and writes the answers, whole or not at all.

    The answers are objects of JSON, a line for each record that could be read, in their order: its `line`,
    its texts by input, and the fields of its answer. However long the file is, about a thousand of its
    records are in memory at a time; of these, texts of like lengths share a batch.

    Raises:
        ValueError: if the model has no such signature, or the signature no such input.
        RefusedFileError: if the file cannot be read, none of its records can, or the answers would take its
            place or have another ending.
        OSError: if the answers cannot be written.
    """
    inputs = client.inputs(name)
    client.check(name, **{each: () for each in inputs if each != client.first_input(name)})
    check_places(source, target)
    described = read_description(client.path)
    unread = Unread()
    records = read_requests(described, name, inputs, source, columns or {}, unread, quoted, data_source)

    def answer(batch: Sequence[TextRecord]) -> Iterator[Mapping[str, Any]]:
        return _answer(client, name, batch, described["signatures"])

    return answer_records(records, unread, source, target, answer, progress)


def read_requests(
    described: Mapping[str, Any],
    name: str,
    inputs: Sequence[str],
    source: str | os.PathLike[str],
    columns: Mapping[str, str],
    unread: Unread,
    quoted: bool | None = None,
    data_source: str = "",
) -> Iterator[TextRecord]:
    """Yields the records of a file that a signature can be asked about.

    Args:
        data_source: Name of the data set whose task is asked, of a model of several tasks; see
            `read_prompts`.

    Raises:
        ValueError: for a column of no input, or a source without a task.
        RefusedFileError: as `read_texts` does.
    """
    signature = described["signatures"].get(name, {})
    is_of_several = several_tasks(described, name) is not None
    if data_source and not is_of_several:
        raise ValueError(f"source {data_source!r}: {name} is not asked for one of several tasks")
    if not columns and (published := _published_format(described, name, source)):
        return _read_published(published, described, name, source, unread)
    if quoted is None:
        quoted = described.get("recipe", {}).get("data", {}).get("quoted")
    if is_of_several:
        return read_prompts(described, name, source, columns, unread, quoted, data_source)
    if signature.get("words_by") or signature.get("texts_by"):
        return _read_texts_or_lists(described, name, source, columns, unread, quoted)
    found = _columns(inputs, described, name, columns)
    # An input that takes names, or may be left out, is read where its column is named.
    free = {*signature.get("choices", {}), *signature.get("optional", ())}
    taken = {each: column for each, column in found.items() if each not in free or each in columns}
    with_reply = signature.get("reads_replies", False)
    needs = signature.get("needs", "")
    return read_texts(source, taken, unread, needs, quoted=quoted, with_reply=with_reply)


def _published_format(described: Mapping[str, Any], name: str, source: str | os.PathLike[str]) -> str:
    """Returns the published format that a model learned from, if the file is one of its files; else empty."""
    # Data of one's own have no format.
    format = described.get("recipe", {}).get("data", {}).get("format", "")
    own = {name, described["signatures"].get(name, {}).get("words_by")}
    if not format or task_signature(described) not in own:
        return ""
    files = {file for each in format_of(format).files.values() for file in each}
    return str(format) if os.path.basename(source).removesuffix(".gz") in files else ""


def _read_published(
    format: str,
    described: Mapping[str, Any],
    name: str,
    source: str | os.PathLike[str],
    unread: Unread,
) -> Iterator[TextRecord]:
    """Yields the records of a file of a published data set, read as the model's own were."""
    files, base = format_of(format).files, os.path.basename(source).removesuffix(".gz")
    split = next(each for each, known in files.items() if base in known)
    found = read_file(format, os.fspath(source), split, labelled=False)
    for each in found.rejected:
        unread.add(each)
    task = _task(described)
    signatures = described["signatures"]
    asked = signatures.get(task.signature) or signatures[name]
    # As `read_labelled_data` does, the roles of another name are those at their places.
    roles = format_of(format).roles
    same = roles if set(roles) == set(task.roles) else task.roles
    inputs = dict(zip(task.roles, asked["inputs"]))
    for record in found.records:
        texts = {inputs[to]: record.texts[role] for role, to in zip(roles, same)}
        yield TextRecord(record.line, texts)


def _read_texts_or_lists(
    described: Mapping[str, Any],
    name: str,
    source: str | os.PathLike[str],
    columns: Mapping[str, str],
    unread: Unread,
    quoted: bool | None,
) -> Iterator[TextRecord]:
    """Yields the records of a file that has texts, or lists of words or turns, unless a column says which."""
    both = (name, *(described["signatures"][name].get(key) for key in ("words_by", "texts_by")))
    signatures = (described["signatures"].get(each, {}) for each in both)
    known = (TEXT, *(each for signature in signatures for each in signature.get("lists", ())))
    found = _columns(known, described, name, columns)
    taken = {each: column for each, column in found.items() if each in columns} or found
    lists = {each: str(column) for each, column in taken.items() if each != TEXT}
    texts = {each: column for each, column in taken.items() if each == TEXT}
    return read_texts(source, texts or lists, unread, rather=lists if texts else None, quoted=quoted)


def task_signature(described: Mapping[str, Any]) -> str:
    """Returns the name of the signature that asks an exported model for its task's answer."""
    return _task(described).signature


def _task(described: Mapping[str, Any]) -> AnyTask:
    return task_from_json(json.dumps(described["recipe"]["task"]))


def answer_records(
    records: Iterator[TextRecord],
    unread: Unread,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    answer: Callable[[Sequence[TextRecord]], Iterable[Mapping[str, Any]]],
    progress: Callable[[int], None] = lambda answered: None,
) -> Predicted:
    """Writes the answers to records, whole or not at all, a line of JSON each.

    Raises:
        OSError: if the answers cannot be written.
    """
    answered = truncated = 0
    progress(answered)
    with storage.whole_file(target, "w") as file:
        for held in iter(lambda: list(itertools.islice(records, BATCH * SORTED_BATCHES)), []):
            with tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES) as spool:
                answers = _Answers(spool)
                for places in _batches(held):
                    batch = [held[place] for place in places]
                    for place, fields in zip(places, answer(batch), strict=True):
                        truncated += bool(fields.get("truncated"))
                        line = {"line": held[place].line, **held[place].texts, **fields}
                        answers[place] = json.dumps(line, ensure_ascii=False) + "\n"
                    answered += len(batch)
                    progress(answered)
                file.writelines(answers[place] for place in range(len(held)))
        if not answered:
            first = "".join(f"; line {each.line}: {each.detail}" for each in unread.first[:1])
            raise RefusedFileError(f"{source}: none of {unread.counts.total()} records can be read{first}")
    return Predicted(answered, unread.counts, unread.first, truncated)


def check_places(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Checks that the file of answers has the right ending and is not the file of records."""
    if not os.fspath(target).endswith(_ENDING):
        raise RefusedFileError(f"{target}: answers are objects of JSON; give a name that ends in {_ENDING}")
    if os.path.abspath(source) == os.path.abspath(target):
        raise RefusedFileError(f"{target}: the answers would take the place of what is asked")


def _columns(
    inputs: Sequence[str], described: Mapping[str, Any], name: str, said: Mapping[str, str]
) -> dict[str, str | Sequence[str]]:
    for each in said:
        if each not in inputs:
            raise ValueError(f"there is no input {each!r}; there are {', '.join(inputs)}")
    trained = described.get("recipe", {}).get("data", {}).get("texts", {})
    roles = _roles(described, name)
    return {each: said.get(each) or trained.get(roles.get(each, each), each) for each in inputs}


def _roles(described: Mapping[str, Any], name: str) -> dict[str, str]:
    """Returns the role, in the records of the model's task, of each input of the task's own signature."""
    if described.get("recipe", {}).get("task") is None:
        return {}
    task = _task(described)
    if name not in (task.signature, task.scored_by):
        return {}
    return dict(zip(described["signatures"][name]["inputs"], task.roles))


def _batches(records: Sequence[TextRecord]) -> Iterator[list[int]]:
    """Yields the places of the records of each batch, which have the same inputs, the shortest ones first."""
    keys = [(tuple(record.texts), sum(map(len, record.texts.values()))) for record in records]
    places = sorted(range(len(records)), key=keys.__getitem__)
    for _, same in itertools.groupby(places, key=lambda place: keys[place][0]):
        alike = list(same)
        yield from (alike[start : start + BATCH] for start in range(0, len(alike), BATCH))


class _Answers:
    """Answers in a file by their places, put in and taken out in any order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._parts: dict[int, tuple[int, int]] = {}

    def __setitem__(self, place: int, line: str) -> None:
        written = line.encode()
        self._parts[place] = (self._file.seek(0, os.SEEK_END), len(written))
        self._file.write(written)

    def __getitem__(self, place: int) -> str:
        start, length = self._parts[place]
        self._file.seek(start)
        return self._file.read(length).decode()


def _answer(
    client: Client, name: str, batch: Sequence[TextRecord], signatures: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    texts: dict[str, Any] = {each: [record.texts[each] for record in batch] for each in batch[0].texts}
    first = texts.pop(TEXT if TEXT in texts else next(iter(texts)))
    answer = signatures.get(client.asked(name, first), {}).get("answer", {})
    yield from (printed_fields(answer, outputs) for outputs in client.ask(name, first, **texts))
