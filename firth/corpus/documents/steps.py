"""What a cleaning step is: it keeps a document or drops it with a reason."""

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from firth.corpus.documents.document import Document

if TYPE_CHECKING:
    from apache_beam.pvalue import PCollection

    from firth.corpus.documents.tally import Tally


@dataclasses.dataclass(frozen=True)
class Keep:
    """The document goes on, as it was or changed.

    Attributes:
        document: As the step leaves it.
        counts: What the step did to it, by name, such as how many lines it cut for which rule.
    """

    document: Document
    counts: Mapping[str, int] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Drop:
    """The document ends here. The reason is one of a few words of the step, fit to be counted by."""

    reason: str


Decision = Keep | Drop


class DocumentStep(abc.ABC):
    """A step that looks at one document at a time.

    Attributes:
        reasons: Every reason that it may drop a document for.
        changes_text: Whether a document that it keeps may be changed.
        idempotent: Whether it leaves alone what it has left before.
    """

    reasons: frozenset[str] = frozenset()
    changes_text: bool = False
    idempotent: bool = True

    @abc.abstractmethod
    def decide(self, document: Document) -> Decision:
        """Returns whether the document goes on."""


class Grouping(NamedTuple):
    """How values are brought together.

    Attributes:
        groups: How many there are. What comes out does not depend on it.
        scratch: A folder that all workers can write and read. Without one, values go through the runner.
    """

    groups: int = 1
    scratch: str = ""


IN_RUNNER = Grouping()


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a corpus step is told next to the documents.

    Attributes:
        name: Of the step in the report.
        sources: Names of the sources, in the order of the recipe.
        folder: Where the report will stand, and what the step itself has to report.
        grouping: How rows and documents of one key are brought together.
    """

    name: str
    sources: tuple[str, ...] = ()
    folder: str = ""
    grouping: Grouping = IN_RUNNER


class CorpusStep(abc.ABC):
    """A step that looks at the corpus as a whole, in Beam.

    Attributes:
        reasons: Every reason that it may drop a document for.
    """

    reasons: frozenset[str] = frozenset()

    @abc.abstractmethod
    def judge(
        self, documents: "PCollection[list[Document]]", setting: Setting
    ) -> "tuple[PCollection[list[tuple[Document, Decision]]], PCollection[Tally]]":
        """Returns each document once, with a decision, and what else is to be counted.

        Neither may depend on the order of documents, on how they are batched or on workers.
        """


Step = DocumentStep | CorpusStep
StepFactory = Callable[[Any], Step]
