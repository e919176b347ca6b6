"""A part of the records that is held out, by their texts."""

from firth.corpus.documents.hashing import digest, unit_hash
from firth.tasks.readers import LabelledRecord, LabelledRecords, RefusedFileError


def hold_out(split: LabelledRecords, share: float) -> tuple[LabelledRecords, LabelledRecords]:
    """Returns what is left to train on, and what is held out: at least one text of each."""
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
