"""The step that drops all but one of several similar documents."""

from firth.corpus.dedup.clusters import Describe, Described, decide_similar
from firth.corpus.dedup.earlier_documents import ReadEarlier
from firth.corpus.documents.steps import CorpusStep, Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.grouping.tables import source_ranks
from firth.recipes.corpus.duplicates import NearDuplicatesStep


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
