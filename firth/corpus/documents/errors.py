"""The errors of building a corpus."""


class CorpusError(ValueError):
    """The corpus cannot be built as the recipe asks."""


class SourceError(CorpusError):
    """A source yields no document: a file or package is missing, or nothing in it is readable."""


class SourceSchemaError(CorpusError):
    """The records of the sources differ from the schema that they are checked against."""


class EmptyCorpusError(CorpusError):
    """Cleaning dropped every document, or every document of one split."""


class CorpusLimitsError(CorpusError):
    """The cleaned corpus is outside the limits that the recipe sets."""


class UnsettledClustersError(CorpusError):
    """The clusters of duplicates were not complete after the number of rounds that the recipe allows."""


class CountMismatchError(CorpusError):
    """Documents were lost: those that came into a step are not those that it kept, dropped and rejected."""


class MixtureError(CorpusError):
    """The sources do not allow the recipe's mixture, or the mixture made is not the planned one."""


class UnreadableError(Exception):
    """A record cannot be read as a document. `read_or_reject` in `readers/decoding.py` catches this error.

    Attributes:
        reason: Reason of rejection.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
