"""Steps that drop documents which are similar to another, or to those of a preferred source."""

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth import storage
from firth.corpus.decontamination.benchmarks import ReadBenchmarks
from firth.corpus.dedup.clusters import Describe, Described, decide_similar
from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import SourceError
from firth.corpus.documents.steps import CorpusStep, Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.grouping.tables import source_ranks
from firth.corpus.io.records import BATCH_BYTES, read_batches
from firth.corpus.io.source_files import match_files
from firth.recipes.corpus.duplicates import DatasetDuplicatesStep, NearDuplicatesStep

if TYPE_CHECKING:
    import pyarrow as pa

_EXPORTED = ("id", "text", "source", "licence", "provenance")
_START = b"PAR1"


class NearDuplicates(CorpusStep[NearDuplicatesStep]):
    """Drops all but the longest of the documents in each cluster of similar ones, for the reason `duplicate`.

    Documents that share a bucket of `MinHash` are in the same cluster, and so are those linked through
    others. Of several documents of the greatest length, that of the most preferred source is kept, and of
    these the one with the smallest id. No two documents that are kept share a bucket, so no
    document in eval is linked to a document in train. Buckets may be of any size: the cost is linear in the
    number of their documents, no comparison is left out, and the report has their sizes.

    Documents in a cluster with a document of an earlier curation are all dropped, `in_earlier_corpus`.
    """

    reasons = frozenset({"duplicate", "in_earlier_corpus"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        config = self._config
        ranks = source_ranks(config.source_priority, setting.sources)
        described = documents | "Describe" >> Describe(config, "longest_first", ranks)
        if not config.earlier:
            return decide_similar(documents, described, config, setting)
        earlier = documents.pipeline | "ReadEarlier" >> ReadEarlier(setting.name, config.earlier)
        others = earlier | "DescribeEarlier" >> Describe(config, "outside", {})
        described = Described(*zip(described, others))
        return decide_similar(documents, described, config, setting, outside="in_earlier_corpus")


@beam.ptransform_fn
def ReadEarlier(pipeline: beam.Pipeline, step: str, patterns: Sequence[str]) -> PCollection[list[Document]]:
    """Reads documents of earlier curations, as lists.

    Raises:
        SourceError: when applied, if a pattern matches no file; on a worker, if a file has no documents of a
            curation, with its name.
    """
    paths = [file.path for file in match_files(step, patterns) if not file.problem]
    files = pipeline | "Files" >> beam.Create(paths) | "Spread" >> beam.Reshuffle()
    return files | "Read" >> beam.FlatMap(_read, step).with_output_types(list[Document])


def _read(path: str, step: str) -> Iterator[list[Document]]:
    try:
        with storage.local_copy(path) as local:
            with storage.open_file(local, "rb") as file:
                is_parquet = file.read(len(_START)) == _START
            if is_parquet:
                yield from split_into_batches(
                    _exported(local), BATCH_BYTES, operator.attrgetter("held_bytes")
                )
                return
        for records in read_batches(path):
            yield list(map(Document.from_example, records))
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise SourceError(f"{step}: {path} has no documents of a curation: {error}") from error


def _exported(path: str) -> Iterator[Document]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        batches: Iterator[pa.RecordBatch] = file.iter_batches(256, columns=list(_EXPORTED))
        for batch in batches:
            for row in batch.to_pylist():
                yield Document(*(row[name] for name in _EXPORTED))


class DatasetDuplicates(CorpusStep[DatasetDuplicatesStep]):
    """Drops documents that are similar to documents of a preferred source, or to evaluation data.

    The reasons are `duplicate` and `in_benchmark`. Similar documents form clusters, as in `NearDuplicates`.
    If an example of a benchmark is in a cluster, all its documents are dropped. Otherwise all documents of
    the most preferred source in the cluster are kept, and those of other sources are dropped.

    Raises:
        SourceError: on construction of the pipeline, if a benchmark has no file.
    """

    reasons = frozenset({"duplicate", "in_benchmark"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        config = self._config
        ranks = source_ranks(config.source_priority, setting.sources)
        described = documents | "Describe" >> Describe(config, "source_first", ranks)
        outside = "in_benchmark" if config.benchmarks else ""
        if config.benchmarks:
            examples = documents.pipeline | "ReadBenchmarks" >> ReadBenchmarks(config.benchmarks)
            others = examples | "DescribeBenchmarks" >> Describe(config, "outside", {})
            described = Described(*zip(described, others))
        return decide_similar(documents, described, config, setting, by_rank=True, outside=outside)
