"""Labelled records of some splits made into files of rows."""

import dataclasses
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from firth import storage
from firth.corpus.contamination.evidence import CorpusEvidence
from firth.corpus.contamination.held_out_search import HeldOutSearch
from firth.corpus.documents.batching import in_batches
from firth.corpus.documents.example import FeatureError
from firth.corpus.io.record_files import read_records, write_records
from firth.corpus.packing.packed_rows import Row
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.inputs import EncodedRecord
from firth.tasks.labelled.examples import from_example, parts_of
from firth.tasks.labelled.mixing import EVAL
from firth.tasks.packing import TaskRowsError, pack_records
from firth.tasks.readers import LabelledRecord

REPORT_FILE = "report.json"
_BATCH = 4096


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
    for batch in filter(None, in_batches(records, _BATCH)):
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
