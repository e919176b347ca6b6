"""The step that drops documents that a preferred source or evaluation data has too."""

import apache_beam as beam

from firth.corpus.decontamination.benchmarks import ReadBenchmarks
from firth.corpus.dedup.clusters import Cluster, Describe, Described
from firth.corpus.dedup.kept_copies import ChooseKept, decide
from firth.corpus.documents.steps import CorpusStep, Setting
from firth.corpus.grouping.identity import source_ranks
from firth.corpus.grouping.marks import Decisions, Documents, JoinMarks
from firth.recipes.corpus.duplicates import DatasetDuplicatesStep


class DatasetDuplicates(CorpusStep):
    """Drops documents that are similar to documents of a preferred source, or to evaluation data.

    The reasons are `duplicate` and `in_benchmark`. Similar documents form clusters, as in `NearDuplicates`.
    If an example of a benchmark is in a cluster, all its documents are dropped. Otherwise all documents of
    the most preferred source in the cluster are kept, and those of other sources are dropped.

    Args:
        config: Settings of MinHash, the order of the sources, and the benchmarks.

    Raises:
        SourceError: on construction of the pipeline, if a benchmark has no file.
    """

    reasons = frozenset({"duplicate", "in_benchmark"})

    def __init__(self, config: DatasetDuplicatesStep) -> None:
        self._config = config

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        config = self._config
        ranks = source_ranks(config.source_priority, setting.sources)
        described = documents | "Describe" >> Describe(config, "source_first", ranks)
        if config.benchmarks:
            examples = documents.pipeline | "ReadBenchmarks" >> ReadBenchmarks(config.benchmarks)
            others = examples | "DescribeBenchmarks" >> Describe(config, "benchmark", {})
            described = Described((described.entries, others.entries), (described.members, others.members))
        entries, buckets = described | "Cluster" >> Cluster(config.rounds, setting)
        marks, clusters = entries | "ChooseKept" >> ChooseKept(setting.grouping, by_rank=True)
        join = JoinMarks(decide, setting.grouping)
        decided = {"documents": documents, "marks": marks} | "Join" >> join
        return decided, (buckets, clusters) | "CorpusCounts" >> beam.Flatten()
