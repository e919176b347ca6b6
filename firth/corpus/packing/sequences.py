"""Tokenization and packing of cleaned documents into files of rows, on Beam, with their counts."""

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, PCollection, TaggedOutput
from apache_beam.typehints.decorators import no_annotations

from firth import storage
from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import sum_counters
from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.documents.split import EVAL, TRAIN
from firth.corpus.documents.steps import IN_RUNNER, Grouping
from firth.corpus.grouping.values import GroupValues
from firth.corpus.io.records import Patterns, ReadBatches, write_records
from firth.corpus.packing.mixing import (
    Group,
    Mix,
    MixedGroup,
    build_mixture_report,
    check_mixture,
    measure,
)
from firth.corpus.packing.row_packing import pack_rows
from firth.corpus.packing.rows import Row
from firth.corpus.packing.tokenization import Tokenize, tokenized_documents
from firth.recipes.corpus.mixture import AnyMixture, AsIs, Mixed
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.storage import read_json, write_json

MIXTURE_FILE = "mixture_report.json"
SCRATCH_FOLDER = "scratch"
_AS_IS = AsIs()
# Rows of a bucket are held in memory together. A split with fewer rows is one bucket, so that every row has a
# negative if there is one.
BUCKET_ROWS = 2**12
COUNTS_FILE = "sequence_counts.json"
# The beginning of the names of counts of a source's tokens.
SOURCE = "source "
COUNTS = (
    "rows",
    "documents",
    "empty_documents",
    "cut_documents",
    "cut_words",
    "chunks",
    "tokens",
    "padding_tokens",
    "repeated_documents",
    "left_out_documents",
    "rows_without_negative",
)
# Counts by (split, name).
SplitCounts = Mapping[tuple[str, str], int]


def make_sequences(
    make_pipeline: Callable[[], beam.Pipeline],
    split_patterns: Mapping[str, Patterns],
    tokenizer_folder: str,
    sequences: Sequences,
    special_tokens: int,
    raw_length: int,
    split_folders: Mapping[str, str],
    counts_folder: str,
    mixture: AnyMixture = _AS_IS,
    sources: Sequence[str] = (),
) -> dict[str, dict[str, Any]]:
    """Tokenizes the documents of some splits and packs them into rows (see `features.row_specs`).

    The files are the same, byte for byte, on any number of workers. Rows of the eval split carry a
    negative row, one of other documents. Only the train split is mixed; `mixture_report.json` is then written
    next to the counts (see `build_mixture_report`).

    Args:
        make_pipeline: Returns a new Beam pipeline.
        split_patterns: Path patterns of each split's TFRecord files of documents.
        tokenizer_folder: Folder of a saved tokenizer.
        sequences: The number of documents in a row, the share of short rows, and the number of files.
        special_tokens: Number of special tokens that the objective adds to each chunk.
        raw_length: Greatest number of tokens in a row before the objective is applied; see `pack_rows`.
        split_folders: Folder of each split's rows.
        counts_folder: Folder of `sequence_counts.json`.
        mixture: The mixture of the recipe; by default documents are taken as they are.
        sources: Names of all sources, including those of which nothing is left.

    Returns:
        The counts by split: those of `pack_rows`; `rows_without_negative`; for a mixture
        `left_out_documents` and `repeated_documents`, without each document's first copy; and under
        `sources` the number of tokens by source.

    Raises:
        MixtureError: if the sources do not allow the mixture, or the mixture that was made is not the planned
            one.
        EmptyCorpusError: if a split has no rows.
        CountMismatchError: if documents or tokens were lost.
    """
    path, report = f"{counts_folder}/{COUNTS_FILE}", f"{counts_folder}/{MIXTURE_FILE}"
    grouping = Grouping(sequences.shards, f"{counts_folder}/{SCRATCH_FOLDER}")
    storage.remove(grouping.scratch)
    try:
        with make_pipeline() as pipeline:
            counts = []
            for split, pattern in split_patterns.items():
                records = pipeline | f"Read[{split}]" >> ReadBatches(pattern)
                packing = Packing(sequences, special_tokens, raw_length)
                mixing = _mixing(split, mixture, sources, report)
                folder = split_folders[split]
                make_rows = MakeRows(split, tokenizer_folder, packing, folder, mixing, grouping)
                counts.append(records | f"MakeRows[{split}]" >> make_rows)
            _ = (
                counts
                | "Flatten" >> beam.Flatten()
                | "Sum" >> beam.CombineGlobally(sum_counters)
                | "WriteCounts" >> beam.Map(write_counts, path, tuple(split_patterns))
            )
    finally:
        storage.remove(grouping.scratch)
    written = read_json(path)
    check_counts(written)
    return written


class Packing(NamedTuple):
    """The settings of `pack_rows`.

    Attributes:
        sequences: The number of documents in a row, and the share of short chunks.
        special_tokens: Number of special tokens that the objective adds to each chunk.
        raw_length: Greatest number of tokens in a row before the objective is applied.
    """

    sequences: Sequences
    special_tokens: int
    raw_length: int


class Mixing(NamedTuple):
    """The settings of a mixture.

    Attributes:
        mixture: The mixture of the recipe.
        sources: Names of all sources.
        path: Path of the report about the mixture.
    """

    mixture: Mixed
    sources: Sequence[str]
    path: str


def _mixing(split: str, mixture: AnyMixture, sources: Sequence[str], path: str) -> Mixing | None:
    mixed = mixture.mixed
    return None if split != TRAIN or mixed is None else Mixing(mixed, sources, path)


@beam.ptransform_fn
def MakeRows(
    records: PCollection[list[bytes]],
    split: str,
    tokenizer_folder: str,
    packing: Packing,
    folder: str,
    mixing: Mixing | None = None,
    grouping: Grouping = IN_RUNNER,
) -> PCollection[Counter]:
    """Writes the rows of one split: lists of serialized documents to counts by (split, name)."""
    shards = packing.sequences.shards
    tokenize = beam.ParDo(Tokenize(tokenizer_folder, shards)).with_output_types(Unmeasured)
    groups = records | "Tokenize" >> tokenize | "Group" >> GroupValues(grouping)
    counts = []
    if mixing:
        documents, mixed = groups | "Mix" >> _MixAndReport(split, mixing)
        counts.append(mixed)
    else:
        documents = groups | "TakeUp" >> beam.Map(_take_up).with_output_types(Unmeasured)
    pack = beam.FlatMap(_pack, split, packing).with_output_types(tuple[int, list[Row]])
    packed = documents | "Pack" >> pack.with_outputs("counts", main="rows")
    if split == EVAL:
        files = packed.rows | "Negatives" >> AddNegatives()
    else:
        files = packed.rows | "Alone" >> beam.Map(
            lambda group: (group[0], shards, [(row, None) for row in group[1]])
        )
    written = files | "Write" >> beam.Map(_write, split, folder)
    read = records | "CountRead" >> beam.Map(lambda batch: Counter({(split, "read"): len(batch)}))
    return (*counts, packed.counts, written, read) | "AllCounts" >> beam.Flatten()


@beam.ptransform_fn
def _MixAndReport(
    groups: PCollection[Group], split: str, mixing: Mixing
) -> tuple[PCollection[MixedGroup], PCollection[Counter[tuple[str, str]]]]:
    """Mixes groups of documents, measures the mixture and writes its report: groups to (groups, counts)."""
    mixture, sources, path = mixing
    mixed, cuts, counts = groups | "Mix" >> Mix(mixture, sources)
    _ = (
        mixed
        | "Measure" >> beam.Map(lambda group: measure(group[1]))
        | "Sum" >> beam.CombineGlobally(sum_counters)
        | "Report" >> beam.Map(_write_mixture, path, mixture, beam.pvalue.AsSingleton(cuts))
    )
    return mixed, counts | "BySplit" >> beam.Map(key_by_split, split)


def _write_mixture(measured: dict[tuple[str, str], int], path: str, mixture: Mixed, cuts: Any) -> None:
    report = build_mixture_report(measured, cuts, mixture)
    write_json(path, report)
    check_mixture(report)


def _take_up(group: Group) -> MixedGroup:
    return group[0], list(tokenized_documents(group[1]))


def _pack(element: Any, split: str, packing: Packing) -> Iterator[Any]:
    group, documents = element
    rows, counts = pack_rows(documents, *packing)
    counts["tokenized"] = sum(len(document.tokens) for document in documents)
    for row in rows:
        counts[f"{SOURCE}{row.source}"] += row.tokens
    yield group, rows
    yield TaggedOutput("counts", key_by_split(counts, split))


def _write(element: tuple[int, int, list[tuple[Row, Row | None]]], split: str, folder: str) -> Counter:
    index, count, pairs = element
    if pairs:
        write_records(folder, index, count, (row.to_example(negative) for row, negative in pairs))
    alone = sum(negative is None for _, negative in pairs) if split == EVAL else 0
    return Counter({(split, "written"): len(pairs), (split, "rows_without_negative"): alone})


def find_negatives(rows: Iterable[Row]) -> list[tuple[Row, Row | None]]:
    """Returns the rows sorted by example id, each with the next row that shares no document with it.

    The row after the last one is the first. The negative is None if all other rows share a document with the
    row.
    """
    ordered = sorted(rows, key=lambda row: row.example_id)
    doubled = ordered + ordered
    return [(row, _first_disjoint(row, doubled[i + 1 : i + len(ordered)])) for i, row in enumerate(ordered)]


def _first_disjoint(row: Row, others: Iterable[Row]) -> Row | None:
    return next((other for other in others if not row.document_keys & other.document_keys), None)


@beam.ptransform_fn
def AddNegatives(groups: PCollection) -> PCollection:
    """Pairs rows with negatives: (group, rows) to (bucket, number of buckets, [(row, negative)]).

    The bucket of a row depends on its example id, and the number of buckets on the number of all rows, so the
    pairs do not depend on the number of workers.
    """
    rows = groups | "Rows" >> beam.Map(lambda group: len(group[1])) | "Count" >> beam.CombineGlobally(sum)
    return (
        groups
        | "Bucket" >> beam.FlatMap(_rebucket, AsSingleton(rows))
        | "GroupByKey" >> beam.GroupByKey()
        | "Pair" >> beam.Map(_pair)
    )


def _buckets(rows: int) -> int:
    return 1 + rows // BUCKET_ROWS


def _rebucket(group: tuple[int, list[Row]], rows: int) -> Iterator[tuple[tuple[int, int], bytes]]:
    for bucket, members in group_by_key(group[1], lambda row: row.example_id % _buckets(rows)).items():
        yield (bucket, _buckets(rows)), pickle.dumps(members, pickle.HIGHEST_PROTOCOL)


# Beam infers the type of the result.
@no_annotations
def _pair(
    element: tuple[tuple[int, int], Iterable[bytes]],
) -> tuple[int, int, list[tuple[Row, Row | None]]]:
    (bucket, buckets), groups = element
    return bucket, buckets, find_negatives(row for rows in groups for row in pickle.loads(rows))


def key_by_split(counts: Mapping[str, int], split: str) -> Counter:
    """Returns the counts of one split by (split, name).

    Example:

    >>> key_by_split({"rows": 3}, "train")
    Counter({('train', 'rows'): 3})
    """
    return Counter({(split, name): count for name, count in counts.items()})


def write_counts(summed: dict[tuple[str, str], int], path: str, splits: Iterable[str]) -> None:
    """Writes the counts of some splits to a JSON file, after checking that nothing was lost."""
    counts = Counter(summed)
    for split in splits:
        counts[split, "mixed"] = counts[split, "read"] + counts[split, "repeated_documents"]
        counts[split, "mixed"] -= counts[split, "left_out_documents"]
        pairs = (("mixed", "documents"), ("tokenized", "tokens"), ("rows", "written"))
        for came, went in pairs:
            if counts[split, came] != counts[split, went]:
                raise CountMismatchError(
                    f"{split}: {counts[split, came]} {came}, {counts[split, went]} {went}"
                )
    write_json(path, {split: _counts_of(split, counts) for split in splits})


def _counts_of(split: str, counts: SplitCounts) -> dict[str, Any]:
    tokens = {
        name.removeprefix(SOURCE): count
        for (each, name), count in sorted(counts.items())
        if each == split and name.startswith(SOURCE)
    }
    return {**{name: counts[split, name] for name in COUNTS}, "sources": tokens}


def check_counts(counts: Mapping[str, Mapping[str, Any]]) -> None:
    """Checks that each split has rows."""
    for split, each in counts.items():
        if not each["rows"]:
            raise EmptyCorpusError(
                f"the {split} split has no row: {each['empty_documents']} of its {each['documents']} "
                "documents have no token"
            )
