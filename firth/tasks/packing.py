"""Packing of labelled records into rows, each of them whole."""

import functools
import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth.corpus.packing.packed_rows import Chunk, Row, make_row, pack_in_order
from firth.features import Spec
from firth.recipes.tasks.task import Task
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.inputs import EncodedRecord
from firth.tasks.texts import key_of

NO_TOKENS = "no_tokens"
_SHOWN = 10


class TaskRowsError(ValueError):
    """Records that cannot be made into rows."""


class PackedRecords(NamedTuple):
    """The rows of a split, and counts of its records.

    Attributes:
        rows: Rows, in the order of their example ids.
        report: `records` and `tokens` that the rows hold, without special tokens; `rows`; `padding_share`,
            the share of places that are neither tokens nor special tokens; `records_cut` and `tokens_cut`, of
            these records; `rejected`, the numbers of records that are in no row by reason, and
            `first_rejected`, the source and id of the first ones. Fit for JSON.
    """

    rows: list[Row]
    report: dict[str, Any]


def pack_records(records: Iterable[EncodedRecord], task: Task, sequences: Sequences) -> PackedRecords:
    """Packs records into rows, each record in one row and with its labels.

    Records are taken in the order of their keys, which is a random one, so that a row holds records of any
    lengths and labels. All records of a row have the same source. The order of the records does not matter.
    Records with a text of no tokens are rejected, and those that say why they are.

    Raises:
        TaskRowsError: if two records have the same key.
        ValueError: if a record is longer than a row.

    Example: see `tests/tasks/packing_test.py`.
    """
    by_source, rejected = _sort_out(records)
    specs = task.label_specs(sequences)
    rows, full = [], 0
    for source, members in by_source.items():
        sizes = [task.place_in_row(tuple(map(len, each.chunks)), sequences) for each in members]
        full += sum(_size_in_row(each, task) for each in members)
        for numbers in pack_in_order(sizes, sequences.length, sequences.max_documents):
            rows.append(_row(source, [members[number] for number in numbers], specs))
    rows.sort(key=lambda row: row.example_id)
    kept = [each for members in by_source.values() for each in members]
    places = len(rows) * (sequences.length + task.target_length(sequences))
    return PackedRecords(
        rows,
        {
            "records": len(kept),
            "rows": len(rows),
            "tokens": sum(map(_tokens, kept)),
            "padding_share": (places - full) / max(places, 1),
            "records_cut": sum(each.cut > 0 for each in kept),
            "tokens_cut": sum(each.cut for each in kept),
            "rejected": dict(Counter(each.rejected for each in rejected)),
            "first_rejected": [
                {"source": each.source, "id": each.id, "reason": each.rejected} for each in rejected[:_SHOWN]
            ],
        },
    )


def _sort_out(
    records: Iterable[EncodedRecord],
) -> tuple[dict[str, list[EncodedRecord]], list[EncodedRecord]]:
    """Returns the records by source and those that are rejected, all in the order of their keys."""
    ordered = sorted(records, key=operator.attrgetter("key"))
    for one, other in itertools.pairwise(ordered):
        if one.key == other.key:
            named = " and ".join(f"{each.id!r} of {each.source!r}" for each in (one, other))
            raise TaskRowsError(f"two records of a split have one key, {one.key}: {named}")
    by_source: dict[str, list[EncodedRecord]] = defaultdict(list)
    rejected = []
    for record in ordered:
        reason = record.rejected or ("" if all(map(len, record.chunks)) else NO_TOKENS)
        if reason:
            rejected.append(record._replace(rejected=reason))
        else:
            by_source[record.source].append(record)
    return dict(sorted(by_source.items())), rejected


def _size_in_row(record: EncodedRecord, task: Task) -> int:
    """Returns the tokens of a record, special ones included."""
    return _tokens(record) + len(record.chunks) // task.texts * task.special_tokens


def _tokens(record: EncodedRecord) -> int:
    return sum(map(len, record.chunks))


def _row(source: str, members: Sequence[EncodedRecord], specs: Mapping[str, Spec]) -> Row:
    chunks = [chunk for record in members for chunk in _chunks(record)]
    labels = {name: _label_values(members, name, spec) for name, spec in specs.items()}
    details = [each.details.encode() for each in members if each.details]
    # Windows over one text count by the key of their record.
    found = sorted({key_of(each.id) for each in members if each.is_found})
    return make_row(source, chunks, labels, details, found)


def _label_values(members: Sequence[EncodedRecord], name: str, spec: Spec) -> npt.NDArray[Any]:
    values = [value for record in members for value in record.labels[name]]
    return np.asarray(values, spec.dtype).reshape(-1)


def _chunks(record: EncodedRecord) -> list[Chunk]:
    words = record.words or [None] * len(record.chunks)
    return [
        _chunk(record.key, number, np.asarray(tokens, np.int32), of_tokens)
        for number, (tokens, of_tokens) in enumerate(zip(record.chunks, words))
    ]


def _chunk(key: int, number: int, tokens: npt.NDArray[np.int32], words: Any) -> Chunk:
    starts = _starts(len(tokens))
    return Chunk(key, number, tokens, starts, starts, words)


@functools.lru_cache(maxsize=2**10)
def _starts(length: int) -> npt.NDArray[np.bool_]:
    """Returns where words and sentences begin in a text of so many tokens: at the first."""
    starts = np.zeros(length, bool)
    starts[:1] = True
    return starts
