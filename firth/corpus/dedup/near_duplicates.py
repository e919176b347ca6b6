"""Documents that say nearly the same."""

import apache_beam as beam

from firth.corpus.dedup.clusters import Cluster, Describe
from firth.corpus.dedup.survivors import Survivors, decide
from firth.corpus.documents.steps import CorpusStep, Setting
from firth.corpus.grouping.identity import source_ranks
from firth.corpus.grouping.verdicts import Documents, JoinVerdicts, Judgement
from firth.recipes.corpus.duplicates import NearDuplicatesStep


class NearDuplicates(CorpusStep):
    """Drops, of the documents that are linked by similarity, as `duplicate` all but the longest.

    Documents that share a bucket of `MinHash` are linked, and so are those that others link. Of the longest
    that of the source that comes first survives, and there that of the smallest id. So no two that survive
    share a bucket, whether a later split sets them apart or not. Buckets may be of any size: their cost is
    bounded by how many documents they have, no comparison is left out, and the report has their sizes.
    """

    reasons = frozenset({"duplicate"})

    def __init__(self, config: NearDuplicatesStep) -> None:
        self._config = config

    def judge(self, documents: Documents, setting: Setting) -> Judgement:  # noqa: D102
        config = self._config
        ranks = source_ranks(config.source_priority, setting.sources)
        described = documents | "Describe" >> Describe(config, "longest_first", ranks)
        entries, buckets = described | "Cluster" >> Cluster(config.rounds, setting)
        verdicts, clusters = entries | "Survivors" >> Survivors(setting.grouping)
        join = JoinVerdicts(decide, setting.grouping)
        judged = {"documents": documents, "verdicts": verdicts} | "Join" >> join
        return judged, (buckets, clusters) | "Tally" >> beam.Flatten()
