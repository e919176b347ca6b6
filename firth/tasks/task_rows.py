"""Labelled records packed into rows, each whole, and written as files."""

import dataclasses
import functools
import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth import storage
from firth.corpus.decontamination.evidence import CorpusEvidence, HeldOutSearch
from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.example import FeatureError
from firth.corpus.io.records import read_records, write_records
from firth.corpus.packing.rows import Chunk, Row, make_row, pack_in_order
from firth.features import Spec
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.inputs import EncodedRecord
from firth.tasks.labelled.examples import from_example, parts_of
from firth.tasks.labelled.mixing import EVAL
from firth.tasks.readers import LabelledRecord
from firth.tasks.texts import key_of

REPORT_FILE = "report.json"
_BATCH = 4096
NO_TOKENS = "no_tokens"
_SHOWN = 10


def make_task_rows(
    patterns: Mapping[str, Sequence[str]],
    task: AnyTask,
    sequences: Sequences,
    tokenizer: Any,
    folders: Mapping[str, str],
    report_folder: str,
    corpora: Sequence[CorpusEvidence] = (),
) -> dict[str, dict[str, Any]]:
    """Writes the rows of some splits, and `report.json`, whose `splits` holds what is returned.

    Records of the split `eval` that a corpus of the base was found to hold are marked, so that scores can be
    given without them. Of these, `contamination` in the report holds what `HeldOutSearch.report` returns.

    The files are the same, byte for byte, whatever the order and the number of the files that are read.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if a file is damaged.
    """
    from firth.tasks.task_kinds import TASKS

    kind = TASKS[task.kind](task, sequences, tokenizer)
    report: dict[str, dict[str, Any]] = {}
    held_out = HeldOutSearch(corpora)
    for split, own in patterns.items():
        read: Counter[str] = Counter()
        search = held_out if corpora and split == EVAL else None
        packed = pack_records(_encoded(kind, _records(own), read, search), task, sequences)
        report[split] = {"read": read.total(), **packed.report}
        said = {"splits": report, "contamination": held_out.report()}
        storage.write_json(f"{report_folder}/{REPORT_FILE}", said)
        if not packed.rows:
            raise TaskRowsError(f"the split {split!r} has no rows; of {read.total()} records none has tokens")
        _write(packed.rows, folders[split], sequences.shards)
    return report


def _records(patterns: Sequence[str]) -> Iterator[tuple[LabelledRecord, str]]:
    for path in sorted({path for pattern in patterns for path in storage.glob(pattern)}):
        try:
            yield from map(from_example, read_records(path))
        except FeatureError as error:
            raise FeatureError(f"{path}: {error}") from error


def _encoded(
    kind: Any, records: Iterable[tuple[LabelledRecord, str]], read: Counter[str], search: HeldOutSearch | None
) -> Iterator[EncodedRecord]:
    """Yields records as tokens, each with its source, and counts by source what was read."""
    for batch in filter(None, split_into_batches(records, _BATCH)):
        found = _found([record for record, _ in batch], search) if search else set()
        by_source: dict[str, list[LabelledRecord]] = defaultdict(list)
        for record, source in batch:
            by_source[source].append(dataclasses.replace(record, source=source))
        for source, members in by_source.items():
            read[source] += len(members)
            for encoded in kind.encode(members):
                yield encoded._replace(source=source, is_found=encoded.id in found)


def _found(records: Sequence[LabelledRecord], search: HeldOutSearch) -> set[str]:
    """Returns the ids of the records that are found."""
    texts = [_joined_texts(record.texts.values()) for record in records]
    labels = [_joined_texts(parts_of(record.label).features.values()) for record in records]
    return {record.id for record, is_found in zip(records, search.find(texts, labels)) if is_found}


def _joined_texts(parts: Iterable[Any]) -> str:
    """Returns texts, and lists of texts, joined by spaces; numbers are left out."""
    listed = ([part] if isinstance(part, str) else part for part in parts)
    return " ".join(each for part in listed for each in part if isinstance(each, str))


def _write(rows: Sequence[Row], folder: str, files: int) -> None:
    """Writes rows, as many in each file as in any other, and no empty file."""
    count = min(files, len(rows))
    bounds = [number * len(rows) // count for number in range(count + 1)]
    for number, (start, end) in enumerate(itertools.pairwise(bounds)):
        write_records(folder, number, count, (row.to_example() for row in rows[start:end]))


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

    Example: see `tests/tasks/task_rows_packing_test.py`.
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
