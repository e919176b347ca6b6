"""Several labelled data sets as one: the source of each record, and how often it is trained on."""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firth.corpus.documents.hashing import digest, unit_hash
from firth.corpus.packing.mixture_plan import Share, plan_mixture
from firth.recipes.tasks.data import AnyLabelledData, DataMixture
from firth.recipes.tasks.task import Task
from firth.tasks.readers import LabelledRecord, LabelledRecords, RefusedFileError

TRAIN, EVAL = "train", "eval"


def read_mixture(data: DataMixture, task: Task, split: str, readers: Mapping[str, Any]) -> LabelledRecords:
    """Returns the records of a split of all parts, with their sources, also in front of their ids.

    Of a part without a split to evaluate on, the same records are held out as if it were alone.

    Raises:
        ValueError: as the parts' readers do.
    """
    found = LabelledRecords("")
    for part in data.parts:
        share, read, own = part.held_out_share, readers[part.kind].read, task.of_source(part.source)
        of_part = hold_out(read(part, own, TRAIN), share)[split == EVAL] if share else read(part, own, split)
        found.file = ", ".join(filter(None, (found.file, of_part.file)))
        found.rejected += of_part.rejected
        found.records += [
            dataclasses.replace(
                record,
                id=f"{part.source}:{record.id}",
                source=part.source,
                **dict(zip(("texts", "label"), task.as_learned(part.source, record.texts, record.label))),
            )
            for record in of_part.records
        ]
    return found


def shares_of(data: AnyLabelledData, records: Sequence[LabelledRecord]) -> list[Share]:
    """Returns how many records are trained on of each source, those that are repeated counted.

    Raises:
        firth.corpus.documents.errors.MixtureError: if a source has no records.
    """
    if data.mixture is None:
        return []
    counts = Counter(record.source for record in records)
    return plan_mixture(data.mixture, counts, data.source.split("+"))


def repeated(records: Sequence[LabelledRecord], shares: Sequence[Share]) -> Iterator[LabelledRecord]:
    """Yields records as often as their source's share says, each of it as often as any other or once more.

    Which ones have one copy more follows from a hash of their ids. The id of a second copy ends with `#2`.

    Example:

    >>> records = [LabelledRecord(f"a:{n}", {}, "x", "", 1, "a") for n in range(3)]
    >>> sorted(each.id for each in repeated(records, [Share("a", 3, 1.0, 1.0, 4, False)]))
    ['a:0', 'a:1', 'a:1#2', 'a:2']
    """
    of_sources: dict[str, list[LabelledRecord]] = defaultdict(list)
    for record in records:
        of_sources[record.source].append(record)
    for share in shares:
        members = of_sources[share.source]
        whole, more = divmod(share.amount, max(len(members), 1))
        first = {each.id for each in sorted(members, key=_place)[:more]}
        for record in members:
            for copy in range(1, whole + (record.id in first) + 1):
                yield record if copy == 1 else dataclasses.replace(record, id=f"{record.id}#{copy}")


def _place(record: LabelledRecord) -> float:
    return unit_hash("mixture", record.id)


def hold_out(split: LabelledRecords, share: float) -> tuple[LabelledRecords, LabelledRecords]:
    """Returns the records left to train on and those held out: at least one text of each."""
    places = {key_of_texts(record): unit_hash("held out", key_of_texts(record)) for record in split.records}
    if len(places) < 2:
        raise RefusedFileError(
            f"{split.file}: all texts are the same, so that none can be held out; name data.eval"
        )
    order = sorted(places.values())
    end = min(max(share, order[1]), order[-1])
    sides: tuple[list[LabelledRecord], list[LabelledRecord]] = ([], [])
    for record in split.records:
        sides[places[key_of_texts(record)] < end].append(record)
    return LabelledRecords(split.file, sides[0], split.rejected), LabelledRecords(split.file, sides[1])


def key_of_texts(record: LabelledRecord) -> bytes:
    """Returns a hash of the texts of a record."""
    texts = sorted(record.texts.items())
    return digest(*(digest(role, *((text,) if isinstance(text, str) else text)) for role, text in texts))
