"""What was found about documents, brought back to them."""

import pickle
from collections.abc import Callable, Iterable, Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

from firth.corpus.document import Document
from firth.corpus.identity import id_halves
from firth.corpus.records import BATCH_BYTES, pickle_list, unpickle_list
from firth.corpus.steps import Decision
from firth.corpus.table_groups import Tables
from firth.corpus.tables import sort_table
from firth.corpus.tally import Tally

# Of a group a worker holds the verdicts and passes the documents on; few groups make few elements.
GROUPS = 128

# Returns the decision about a document, given the verdicts on it, none for most documents, and whether a
# document of the same id, which had verdicts too, came before.
Decide = Callable[[Document, np.ndarray, bool], Decision]
Documents = PCollection[list[Document]]
# What a CorpusStep returns.
Judgement = tuple[PCollection[list[tuple[Document, Decision]]], PCollection[Tally]]


# Whether it is a table of verdicts, and the table or a list of documents.
_Value = tuple[bool, bytes]
_Part = tuple[int, _Value]


class JoinVerdicts(beam.PTransform):
    """Decides about documents by verdicts: `documents` and tables of `verdicts` to (document, decision)s.

    The tables have the fields `id_high` and `id_low`, the rest is for `decide`.
    """

    def __init__(self, decide: Decide):
        super().__init__()
        self._decide = decide

    def expand(self, parts):  # noqa: D102
        documents = parts["documents"] | "PartDocuments" >> beam.FlatMap(_document_parts).with_output_types(
            _Part
        )
        verdicts: Tables = parts["verdicts"] | "PartVerdicts" >> beam.FlatMap(
            _verdict_parts
        ).with_output_types(_Part)
        return (
            (documents, verdicts)
            | "Flatten" >> beam.Flatten()
            | "GroupByKey" >> beam.GroupByKey()
            | "Decide" >> beam.ParDo(_Decide(self._decide))
        )


def _document_parts(documents: list[Document]) -> Iterator[_Part]:
    groups: dict[int, list[Document]] = {}
    for document, low in zip(documents, id_halves(documents)[1].tolist()):
        groups.setdefault(low % GROUPS, []).append(document)
    for group, members in groups.items():
        yield group, (False, pickle_list(members))


def _verdict_parts(table: np.ndarray) -> Iterator[_Part]:
    group_of = table["id_low"] % np.uint64(GROUPS)
    # Where there is a table there is a group, even if it has no row: see GroupTables.
    for group in np.unique(group_of).tolist() or [0]:
        yield group, (True, pickle.dumps(table[group_of == group], pickle.HIGHEST_PROTOCOL))


class _Decide(beam.DoFn):
    def __init__(self, decide: Decide):
        self._decide = decide

    def process(self, element: tuple[int, Iterable[_Value]]):
        verdicts = VerdictIndex(pickle.loads(data) for is_table, data in element[1] if is_table)
        seen: set[str] = set()
        for documents in _batches(element[1]):
            yield [(document, self._one(document, rows, seen)) for document, rows in verdicts.of(documents)]

    def _one(self, document: Document, rows: np.ndarray, seen: set[str]) -> Decision:
        again = document.id in seen
        if len(rows):
            seen.add(document.id)
        return self._decide(document, rows, again)


def _batches(values: Iterable[_Value]) -> Iterator[list[Document]]:
    """Yields the documents in lists of about `BATCH_BYTES`."""
    batch: list[Document] = []
    size = 0
    for is_table, data in values:
        if not is_table:
            batch += unpickle_list(data)
            size += len(data)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


class VerdictIndex:
    """Verdicts by id of the document.

    Args:
        tables: With the fields `id_high` and `id_low`.
    """

    def __init__(self, tables: Iterable[np.ndarray]):
        parts = list(tables)
        self._rows = sort_table(np.concatenate(parts), ["id_low"]) if parts else None

    def of(self, documents: list[Document]) -> Iterator[tuple[Document, np.ndarray]]:
        """Yields each document with the rows of its id."""
        if self._rows is None:
            yield from ((document, np.zeros(0)) for document in documents)
            return
        high, low = id_halves(documents)
        starts, ends = (np.searchsorted(self._rows["id_low"], low, side) for side in ("left", "right"))
        for i, document in enumerate(documents):
            rows = self._rows[starts[i] : ends[i]]
            yield document, rows[rows["id_high"] == high[i]]
