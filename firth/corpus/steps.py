"""What a cleaning step is: it keeps a document or drops it with a reason."""

import abc
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth.corpus.document import Document


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


class GroupStep(abc.ABC):
    """A step that looks at documents beside one another, wherever in the corpus they stand."""

    @abc.abstractmethod
    def key(self, document: Document) -> bytes:
        """Returns what the documents of a group have in common."""

    @abc.abstractmethod
    def decide_group(self, documents: Sequence[Document]) -> list[Decision]:
        """Returns one decision a document, in their order. It must not depend on that order."""


Step = DocumentStep | GroupStep
StepFactory = Callable[[Any], Step]
