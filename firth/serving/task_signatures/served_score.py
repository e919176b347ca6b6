"""The headline score of a task, from the answers of its own signature to held-out records and from rows."""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.recipes.tasks.tasks import task_from_json
from firth.scores import Collected, compute, score_of
from firth.scores.score_table import CONSTRAINED, PROBABILITIES, SCORED_ANSWERS, WRITTEN
from firth.serving.client import Client
from firth.tasks import TASKS
from firth.tasks.readers.records import LabelledRecord
from firth.tasks.texts import key_of, texts_by_schema

MOST_RECORDS = 1000
# Largest difference of the two values, of a score between 0 and 1: sums of floats have another order.
TOLERANCE = 1e-6
# How near numbers are of a precision whose answers follow from choices that are often close ones.
_FEW_BITS = 1e-3
_BATCH = 32
_SHOWN = 5
# Scores that no signature's answers to single records have, by their inputs, with the reason.
_UNCHECKED = {
    SCORED_ANSWERS: "its threshold is chosen for all records of a split",
    CONSTRAINED: "no signature writes under task.schema",
}

Rows = Callable[[], Iterable[bytes]]
Records = Callable[[], Iterable[tuple[LabelledRecord, str]]]


class _Scored(NamedTuple):
    """The answer of rows to a record: as scores take it, its numbers, and the tokens that a row holds."""

    example: Collected
    numbers: npt.NDArray[Any]
    tokens: int | None


class _Asking(NamedTuple):
    """The model, its task, and the score that is computed."""

    client: Client
    task: Any
    score: str
    near: float

    @property
    def kind(self) -> Any:
        """The class of the task."""
        return TASKS[self.task.kind]

    @property
    def is_written(self) -> bool:
        """True if the score is of texts, whatever is right."""
        return score_of(self.score).inputs is WRITTEN

    @property
    def signature(self) -> str:
        """The signature that answers the records."""
        return str(self.task.written_by if self.is_written else self.task.scored_by)

    def answer(self, outputs: Sequence[Mapping[str, Any]], source: str) -> tuple[Any, npt.NDArray[Any]]:
        """Returns an answer of the signature as scores take it, and the numbers that it follows from."""
        if self.is_written:
            # A text that the length cut may be a valid one all the same, such as a number.
            text = outputs[0][self.kind.written_output] if outputs[0]["is_finished"] else ""
            return text, np.zeros([0])
        numbers = self.kind.served_numbers(self.task, outputs)
        if score_of(self.score).inputs is PROBABILITIES:
            return numbers.tolist(), numbers
        return self.kind.served_answer(self.task, outputs, source), numbers


def served_score(client: Client, records: Records, rows: Rows, near: float) -> dict[str, Any] | None:
    """Returns the headline score of an exported model twice: by the signature that answers it, and by rows.

    Both are of the same records, `MOST_RECORDS` of the split at most, drawn by the recipe's seed. An answer
    that follows from numbers as near to those of the rows as `near` counts as the answer of the rows.

    A score that no signature's answers have is left out, and the next one is the headline: `unchecked` has
    the reason by its name. Texts that ended under the schema of a task must be valid by it: those to the same
    records, and to as many of each other task of a mixture.
    """
    described = client.description
    stated = described["recipe"].get("task")
    task: Any = None if stated is None else task_from_json(json.dumps(stated))
    score, unchecked = _headline(() if task is None else task.score_names)
    asking = _Asking(client, task, score, near)
    if not score:
        return {"score": "", "unchecked": unchecked, "reason": ""} if unchecked else None
    if asking.signature not in described["signatures"] or not described["evaluation_sums"]:
        return None
    source = score.rpartition(".")[0]
    ids = _ids_by_source(rows)
    sources = [each for each in ids if source in ("", each)]
    all_ids = set().union(*(ids[each] for each in sources))
    seed = described["recipe"]["seed"]
    drawn, under_schema = set(_drawn(all_ids, seed)), set[str]()
    for each in _sources_of_schemas(task).intersection(ids).difference(sources):
        under_schema.update(_drawn(ids[each], seed))
    scored, constrained = _scored(asking, rows, drawn, under_schema)
    served, cut = _served(asking, records, scored)
    if not served:
        return None
    by_signature, problem = _value(asking, [each.example for each in served.values()])
    by_rows, _ = _value(asking, [scored[id].example for id in served])
    found = {
        "score": score,
        "signature": asking.signature,
        "served": by_signature,
        "scored": by_rows,
        "records": len(served),
        "of": len(all_ids),
        "cut": cut,
        "unchecked": unchecked,
    }
    different = [
        each.name for id, each in served.items() if each.example.prediction != scored[id].example.prediction
    ]
    invalid = {each.id for each in _invalid(task, constrained)}.intersection(drawn | under_schema)
    reason = _reason(asking, found, different, problem) or _reason_of_invalid(_names(records, invalid))
    return {**found, "different": different[:_SHOWN], "reason": reason}


class _Served(NamedTuple):
    """The answer of the signature to a record, and the id that a file has for the record."""

    example: Collected
    name: str


def _headline(scores: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Returns the first score of a signature's answers, empty for none, and why those before it are not."""
    unchecked: dict[str, str] = {}
    for name in scores:
        if (reason := _UNCHECKED.get(score_of(name).inputs)) is None:
            return name, unchecked
        unchecked[name] = reason
    return "", unchecked


def _sources_of_schemas(task: Any) -> set[str]:
    """Returns the tasks of a mixture whose texts are scored under a schema; empty text for a task alone."""
    of_schemas = [name for name in task.score_names if score_of(name).inputs is CONSTRAINED]
    return {name.rpartition(".")[0] for name in of_schemas}


def _ids_by_source(rows: Rows) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in map(_fields, rows()):
        found.setdefault(_source(row), set()).update(_ids(row))
    return found


def _drawn(ids: Iterable[str], seed: int) -> list[str]:
    return sorted(ids, key=lambda id: _place(seed, id))[:MOST_RECORDS]


def _place(seed: int, id: str) -> bytes:
    return hashlib.sha256(f"{seed}/{id}".encode()).digest()


def _fields(row: bytes) -> Any:
    return tf.train.Example.FromString(row).features.feature


def _source(fields: Any) -> str:
    return b"".join(fields[names.SOURCE].bytes_list.value).decode()


def _details(fields: Any) -> list[bytes]:
    return list(fields[names.RECORD_DETAILS].bytes_list.value)


def _ids(fields: Any) -> set[str]:
    """Returns the keys of the records in a row, which those of its windows name."""
    of_windows = {known["id"] for known in map(json.loads, _details(fields)) if "id" in known}
    return of_windows or {str(key) for key in fields[names.DOCUMENT_KEYS].int64_list.value}


def _scored(
    asking: _Asking, rows: Rows, drawn: set[str], under_schema: set[str]
) -> tuple[dict[str, _Scored], list[Collected]]:
    """Returns the answers of rows to the records that are drawn, by their keys, and texts under a schema.

    Args:
        drawn: Keys of the records of the score.
        under_schema: Keys of records of other tasks, whose texts under a schema are read.
    """
    asked = (row for row in rows() if not (drawn | under_schema).isdisjoint(_ids(_fields(row))))
    examples, constrained = list[Collected](), list[Collected]()
    numbers: dict[str, npt.NDArray[Any]] = {}
    tokens: dict[str, int] = {}
    for batch in _batches(asked):
        outputs = asking.client.evaluate(batch)
        for place, fields in enumerate(map(_fields, batch)):
            own = {name: values[place] for name, values in outputs.items()}
            if details := _details(fields):
                own[names.RECORD_DETAILS] = np.array(details, object)
            for number in np.flatnonzero(own[names.RECORD_WEIGHTS]):
                key = str(int(own[names.RECORD_KEYS][number]))
                numbers[key] = np.ravel(own[names.RECORD_PREDICTIONS][number])
                if names.RECORD_LENGTHS in own:
                    tokens[key] = int(own[names.RECORD_LENGTHS][number])
            collected: list[Collected] = asking.kind.collected(asking.task, own, _source(fields))
            by_schema = texts_by_schema(collected, own)
            constrained += by_schema.get("constrained", [])
            examples += by_schema["complete"] if asking.is_written else _with_shares(asking, collected, own)
    if join := getattr(asking.kind, "joined", None):
        examples, tokens = join(asking.task, examples, whole=False)["examples"], {}
    nothing = np.zeros([0])
    found = {
        each.id: _Scored(each, numbers.get(each.id, nothing), tokens.get(each.id))
        for each in examples
        if each.id in drawn
    }
    return found, constrained


def _with_shares(asking: _Asking, found: list[Collected], outputs: Mapping[str, Any]) -> list[Collected]:
    """Returns the records of a row as the score takes them: some take the probabilities of all classes."""
    if score_of(asking.score).inputs is not PROBABILITIES:
        return found
    places = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
    labels, given = (
        outputs[name][places].tolist() for name in (names.RECORD_LABELS, names.RECORD_PREDICTIONS)
    )
    return [
        Collected(each.id, int(label), shares, each.source, each.length)
        for each, label, shares in zip(found, labels, given, strict=True)
    ]


def _served(
    asking: _Asking, records: Records, scored: Mapping[str, _Scored]
) -> tuple[dict[str, _Served], int]:
    """Returns the answers of the signature by the keys of the records, and how many rows hold a part of."""
    served: dict[str, _Served] = {}
    cut = 0
    known = ((str(key_of(record.id)), record, source) for record, source in records())
    for batch in _batches(each for each in known if each[0] in scored):
        answers = _answers(asking, [each[1:] for each in batch])
        for (key, record, source), outputs in zip(batch, answers, strict=True):
            of_rows = scored[key]
            if not asking.kind.is_read_alike(outputs, of_rows.tokens):
                cut += 1
                continue
            made, numbers = asking.answer(outputs, source)
            size = len(numbers)
            if size and np.allclose(numbers, of_rows.numbers[:size], rtol=asking.near, atol=asking.near):
                made = of_rows.example.prediction
            example = of_rows.example
            taken = Collected(example.id, example.reference, made, example.source, example.length)
            served[key] = _Served(taken, record.id)
    return served, cut


def _answers(asking: _Asking, batch: Sequence[tuple[LabelledRecord, str]]) -> Iterator[list[dict[str, Any]]]:
    """Yields the outputs of the signature for each record, one for each text where it reads texts alone."""
    client, name = asking.client, asking.signature
    described = client.description["signatures"][name]
    # An input that takes names says of which task a record is.
    named = {each: [source for _, source in batch] for each in described.get("choices", {})}
    inputs = [each for each in described["inputs"] if each not in named]
    answers = []
    for roles in asking.task.asked_roles:
        of_inputs = zip(*(asking.kind.asked_texts(record, roles) for record, _ in batch), strict=True)
        texts: dict[str, Any] = {each: list(column) for each, column in zip(inputs, of_inputs)}
        first = texts.pop(client.first_input(name))
        answers.append(client.ask(name, first, **texts, **named))
    yield from map(list, zip(*answers, strict=True))


def _value(asking: _Asking, examples: Sequence[Collected]) -> tuple[float | None, str]:
    """Returns the score, None where it is no number, and why it cannot be computed."""
    try:
        found = compute(asking.score, examples, **asking.task.score_options(asking.score)).value
    except ValueError as error:
        return None, str(error)
    return (float(found) if math.isfinite(found) else None), ""


def _invalid(task: Any, constrained: Sequence[Collected]) -> list[Collected]:
    """Returns the texts that ended under the schema of their task, and that are not valid by it."""
    found = []
    for name in task.score_names:
        (source, _, _), score, options = name.rpartition("."), score_of(name), task.score_options(name)
        if score.inputs is CONSTRAINED and score.of_one is not None:
            ended = [each for each in constrained if each.prediction and source in ("", each.source)]
            found += [each for each in ended if not score.of_one("", each.prediction, **options)]
    return found


def _names(records: Records, keys: set[str]) -> list[str]:
    """Returns the ids that files have for records, by the keys of the records."""
    if not keys:
        return []
    return [record.id for record, _ in records() if str(key_of(record.id)) in keys]


def _reason_of_invalid(invalid: Sequence[str]) -> str:
    if not invalid:
        return ""
    return (
        f"texts that ended under task.schema are not valid by it: {len(invalid):,}, "
        f"those to {', '.join(map(repr, invalid[:_SHOWN]))} first"
    )


def _reason(asking: _Asking, found: Mapping[str, Any], different: Sequence[str], problem: str) -> str:
    """Returns why the two values are not the same; empty if they are, or if both are no numbers."""
    served, scored = found["served"], found["scored"]
    low, high = score_of(asking.score).range
    most = (TOLERANCE if asking.near < _FEW_BITS else asking.near) * (high - low)
    is_near = None not in (served, scored) and abs(served - scored) <= most
    if (is_near or served == scored) and not problem:
        return ""
    values = f"{_text(served)}, and {_text(scored)} by rows, of {found['records']:,} records"
    named = ", ".join(map(repr, different[:_SHOWN]))
    return (
        f"the signature {found['signature']} answers held-out records otherwise than their rows are scored: "
        f"{found['score']} {problem or values}; {len(different):,} answers differ, those to {named} first"
    )


def _text(value: float | None) -> str:
    return "no number" if value is None else f"{value:.6f}"


def _batches(values: Iterable[Any]) -> Iterator[list[Any]]:
    given = iter(values)
    yield from iter(lambda: list(itertools.islice(given, _BATCH)), [])
