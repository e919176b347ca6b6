"""The step that drops documents that a preferred source or evaluation data has too."""

from firth.corpus.decontamination.benchmarks import ReadBenchmarks
from firth.corpus.dedup.clusters import Describe, Described, decide_similar
from firth.corpus.documents.steps import CorpusStep, Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.grouping.tables import source_ranks
from firth.recipes.corpus.duplicates import DatasetDuplicatesStep


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
