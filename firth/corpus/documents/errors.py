"""What can be wrong with a corpus as a whole."""


class CorpusError(ValueError):
    """A corpus that cannot be built as the recipe asks."""


class SourceError(CorpusError):
    """A source that yields no document: no such file or package, or nothing readable in it."""


class SourceSchemaError(CorpusError):
    """The records of the sources differ from the schema that they are checked against."""


class EmptyCorpusError(CorpusError):
    """Cleaning left nothing, or nothing for one of the splits."""


class CorpusLimitsError(CorpusError):
    """Cleaning left another corpus than the limits of the recipe allow."""


class UnsettledClustersError(CorpusError):
    """The rounds that a recipe allows were too few to find the clusters of duplicates."""


class CountMismatchError(CorpusError):
    """Documents went missing: what came into a step is not what it kept, dropped and rejected."""


class MixtureError(CorpusError):
    """A mixture that cannot be had of the sources, or that is not what was planned."""
