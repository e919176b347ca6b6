"""The task whose answer to a question is a part of a text."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.features import SPAN_ENDS, SPAN_STARTS, Spec
from firth.recipes.goals.goal import Loss
from firth.recipes.tasks.forms import AnyEncoderForm, BERTForm
from firth.recipes.tasks.task import Task, most_frequent, title_of
from firth.recipes.tokenizers.tokenizer import Sequences

SCORES = ("squad_exact_match", "squad_f1")
# Scores of questions that may have no answer: also with a threshold chosen on other held-out questions.
SCORES_WITHOUT_ANSWER = (*SCORES, *(f"{name}_held_out" for name in SCORES))
_Count = Annotated[int, pydantic.Field(ge=1)]


class SpanAnswering(Task):
    """Which part of a text answers a question (Devlin et al. 2018, sections 4.2 and 4.3).

    A text that is longer than a row is read in windows, each with the question in front of it. A window
    without the answer is trained to point to `[CLS]`, which means no answer. The answer of a text is
    the best of all its windows, and is cut from the text itself, in whole words.
    """

    other_names: ClassVar[tuple[str, ...]] = (
        "extractive-qa",
        "qa",
        "question-ans",
        "question-answering",
        "reading-comprehension",
    )
    heads: ClassVar[str] = "spans"
    label_type: ClassVar[str] = "spans"
    label_recurs: ClassVar[bool] = False
    scored_as: ClassVar[tuple[str, ...]] = ("answers", "scored answers")
    label_column: ClassVar[str] = "answers"
    row_length: ClassVar[int] = 384
    record_length: ClassVar[int] = 32
    roles: ClassVar[tuple[str, ...]] = ("question", "context")
    """The roles of the texts of a record."""
    signature: ClassVar[str] = "answer"
    """The served signature that asks the model for its answer."""

    kind: Literal["span"] = "span"
    unanswerable: bool = False
    """True if a text may have no answer, as in SQuAD 2.0. If so, no answer is given where the score of having
    none is greater than that of the best answer by more than `threshold`."""
    threshold: Annotated[float, pydantic.Field(allow_inf_nan=False)] | None = None
    """Greatest difference, in logits, between having no answer and the best answer, at which a question is
    answered. Null for 0, at which the scores are those of what the model says; the model that is served then
    has the one with the greatest F1 on the held-out questions."""
    stride: _Count = 128
    """Pieces from the start of a window to the start of the next one; fewer if a window holds fewer."""
    max_question: _Count = 64
    """Most pieces of a question; the end of a longer one is cut off, and counted."""
    max_answer: _Count = 30
    """Most pieces of an answer."""
    n_best: _Count = 5
    """Number of answers to a question that are served, the best first."""
    scores: tuple[str, ...] = pydantic.Field(
        default_factory=lambda values: SCORES_WITHOUT_ANSWER if values.get("unanswerable") else SCORES
    )
    """Scores of the held-out questions, keys of `firth.scores.SCORES`, the headline first. If not given,
    exact match and F1; with `unanswerable` also those whose names end with `_held_out`, at the threshold that
    is best on other held-out questions."""
    form: AnyEncoderForm = BERTForm()
    """Layout of question and text; its pooling is not read."""

    @property
    def label_options(self) -> dict[str, Any]:
        """True if a label may be no answer at all."""
        return {"unanswerable": self.unanswerable}

    @property
    def limit(self) -> float:
        """The threshold, 0 where it is not stated or chosen."""
        return self.threshold or 0.0

    @property
    def leaves_choice(self) -> bool:
        """True if the threshold is chosen on held-out questions."""
        return self.unanswerable and self.threshold is None

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns no answer, and the text that is right most often, for all questions."""
        answers = [answer for each in references for answer in dict.fromkeys(each)]
        found = {title_of(answer): [answer] * len(references) for answer in most_frequent(answers)}
        return {"no answer": [""] * len(references), **found}

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """The cross entropies of the first and the last place of the answer, half of each.

        The number of places differs between windows; that of a row of the usual length is used.
        """
        places = self.row_length
        return (
            Loss("start", "start of the answer", classes=places, weight=0.5),
            Loss("end", "end of the answer", classes=places, weight=0.5),
        )

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels.

        span_starts, span_ends: int32 [max_documents], the places of the answer's first and last piece among
            the pieces of the window, counted from 1; 0 if the window does not hold the answer.
        """
        windows = Spec("int32", (sequences.max_documents,))
        return {SPAN_STARTS: windows, SPAN_ENDS: windows}
