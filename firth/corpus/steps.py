"""What a cleaning step is: it keeps a document or drops it with a reason."""

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from firth.corpus.document import Document


@dataclasses.dataclass(frozen=True)
class Keep:
    """The document goes on, as it was or changed."""

    document: Document


@dataclasses.dataclass(frozen=True)
class Drop:
    """The document ends here. The reason is one of a few words of the step, fit to be counted by."""

    reason: str


Decision = Keep | Drop


class DocumentStep(abc.ABC):
    """A step that looks at one document at a time."""

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
