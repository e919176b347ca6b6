"""The task whose answer is one of the choices that a record itself brings."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from firth.features import CHOICE_COUNTS, RECORD_LABELS, Spec
from firth.recipes.goals.goal import Loss
from firth.recipes.tasks.classification import Rate
from firth.recipes.tasks.forms import AnyTokenForm, BERTForm
from firth.recipes.tasks.task import Task, most_frequent
from firth.recipes.tokenizers.tokenizer import Sequences


class MultipleChoice(Task):
    """Which of the choices of a record is right (Devlin et al. 2018, section 4.4; Radford et al. 2018,
    section 3.3).

    Each choice is a document of the row: the context, and the question after it, are the first text, the
    choice is the second. Each document gets a number, and the softmax runs over those of a record, which may
    have any number of choices. All choices of a record stand in one row.
    """

    other_names: ClassVar[tuple[str, ...]] = ("multiple-choice",)
    heads: ClassVar[str] = "choices"
    label_type: ClassVar[str] = "choice"
    texts: ClassVar[int] = 2
    signature: ClassVar[str] = "choose"

    kind: Literal["choice"] = "choice"
    question: bool = False
    """True if a record has a question next to its context."""
    scores: tuple[str, ...] = ("accuracy",)
    """Scores of the held-out records, keys of `firth.scores.SCORES`, the headline first. A label is the place
    of the right choice, from 0."""
    form: AnyTokenForm = BERTForm()
    """Layout of the two texts of a choice."""
    dropout: Rate = 0.1
    """Rate of dropout on what the head reads."""

    @classmethod
    def values_for_roles(cls, roles: frozenset[str]) -> dict[str, Any]:
        """Returns the values of a recipe that follow from the roles of its texts."""
        return {"question": True} if "question" in roles else {}

    @property
    def roles(self) -> tuple[str, ...]:  # type: ignore[override]
        """The roles of the texts of a record."""
        return ("context", "question", "choices") if self.question else ("context", "choices")

    def documents(self, sequences: Sequences) -> int:
        """Returns the most choices of a row: as many as fit with a token of each text."""
        return max(1, sequences.length // (self.special_tokens + self.texts))

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns the place that is right most often, for all records."""
        places = most_frequent(references)
        return {f"the choice number {place + 1}": [place] * len(references) for place in places}

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """The cross entropy of the choices."""
        return (Loss("choice", "choice", classes=2, varies=True),)

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels.

        record_labels: int32 [choices], at the first choice of each record the place of the right one; zeros
            at the others.
        choice_counts: int32 [choices], at the first choice of each record their number; zeros at the others.
        """
        shape = (self.documents(sequences),)
        return {RECORD_LABELS: Spec("int32", shape), CHOICE_COUNTS: Spec("int32", shape)}
