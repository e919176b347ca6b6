"""The base of all downstream tasks, and answers of models that read no record."""

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import pydantic

from firth.features import CHUNK_LENGTHS, DOCUMENT_KEYS, RECORD_LABELS, Spec
from firth.recipes.base.size_units import size_features
from firth.recipes.goals.goal import BEATS_CONSTANT, Goal, TextFrame
from firth.recipes.tasks.forms import Form
from firth.recipes.tokenizers.tokenizer import Sequences

_LONGEST_TITLE = 40
Answer = TypeVar("Answer", bound=Hashable)


class Task(Goal):
    """Base of all tasks that a model is adapted to by labelled records.

    A record is a part of a row on disk: one document, or several, each with its texts as chunks of
    the row, and with its label next to them. A row holds as many whole records as fit. `firth.tasks.TASKS`
    has the class of each kind, which makes such rows, and Features of them.

    Each kind has `form`, how texts are laid out, and `scores`, keys of `firth.scores.SCORES`, the
    headline first.
    """

    derived_keys: ClassVar[Mapping[str, str]] = {"form": "the recipe's `base`"}
    label_type: ClassVar[str] = "class"
    """Type of a record's label, a key of `firth.tasks.readers.labels.LABELS`."""
    label_recurs: ClassVar[bool] = True
    """True if records share labels, so that two sets of records can be compared by them."""
    row_length: ClassVar[int] = 128
    """Tokens of a row, where the recipe says nothing else."""
    record_length: ClassVar[int] = 8
    """Tokens of a short record, of which as many as fit share a row."""
    scored_as: ClassVar[tuple[str, ...]] = ("label",)
    """Parts of an answer that its scores take, names of `Inputs` in `firth.scores.score_table`."""
    label_column: ClassVar[str] = "label"
    """Column of the label in a file of one's own, unless the recipe names another."""
    takes_published_scores: ClassVar[bool] = True
    """True if the scores that are published of data are scores of its answers."""
    served_poolings: ClassVar[Mapping[str, str]] = {}
    """By `form.pooling`, the `export.pooling` that makes the vectors which it trains; empty for a task that
    trains none."""
    answered_by: ClassVar[str] = "heads"
    """Source of its answers: the logits of its `heads`, or, where heads write text, a key of
    `firth.serving.task_signatures.row_answers.ROW_ANSWERS`."""
    unlabelled: ClassVar[float | None] = None
    """The label of the records of data without labels; None if it cannot learn from such data."""
    tasks_by_source: ClassVar[Mapping[str, "Task"]] = {}
    """The tasks of single data sets, by the names of their sources: here none, as it is for all."""
    roles: ClassVar[tuple[str, ...]] = ("text",)
    """The roles of the texts of a record, in their order; see `firth.tasks.readers.records`."""
    reads_windows: ClassVar[bool] = False
    """True if `export.long_texts` may be `windows`, in which its signature reads a longer text."""
    signature: ClassVar[str] = ""
    """The served signature that asks the model for its answer; empty if it cannot be asked."""
    head_bias: ClassVar[float | tuple[float, ...]] = 0.0
    """Biases that its heads start from, one number for all or one for each class: here 0."""
    documents_of_record: ClassVar[int] = 1
    """The least number of documents of a record."""

    if TYPE_CHECKING:
        form: Any
        scores: tuple[str, ...]

    @pydantic.model_validator(mode="after")
    def _orders_are_of_two_texts(self) -> "Task":
        form: Form | None = getattr(self, "form", None)
        if form is not None and form.orders > self.documents_of_record:
            raise ValueError("form.both_orders: there are no two texts to read in both orders")
        return self

    @classmethod
    def pooling_for(cls, pooling: str) -> str:
        """Returns how it pools the texts of a model: here as the model does."""
        return pooling

    @classmethod
    def values_for_roles(cls, roles: frozenset[str]) -> dict[str, Any]:
        """Returns the values of a recipe that follow from the roles of its texts: here none."""
        return {}

    def label_problem(self, train: Collection[Any], evaluated: Collection[Any]) -> str:
        """Returns the problem with the labels of data as a whole; empty for none."""
        return ""

    def of_source(self, source: str) -> "Task":
        """Returns the task that the records of a data set are for: here the same for all."""
        return self

    def with_tasks(self, tasks: Mapping[str, "Task"]) -> "Task":
        """Returns it with other tasks of the data sets: here itself, as it is for all of them."""
        return self

    def sources_conflict(self, sources: Sequence[str], is_mixed: bool) -> str:
        """Returns the problem with the data sets of a recipe; empty for none."""
        return ""

    def template_with(self, own: Any) -> Any:
        """Returns the chat template that its tokenizer is kept with: here the one that it has."""
        return own

    @property
    def headline_metrics(self) -> tuple[str, ...]:
        """The names of the metrics that are reported first: its scores, or else those of its main loss."""
        return self.score_names or self.loss_terms[0].metric_names

    def as_learned(self, source: str, texts: Mapping[str, Any], label: Any) -> tuple[dict[str, Any], Any]:
        """Returns the texts and the label of a record of a mixture as they are learned: here as they are."""
        return dict(texts), label

    def describe_labels(self, labels: Iterable[Any]) -> str:
        """Returns a note on the labels of data, in a line; empty for none."""
        return ""

    def names_problem(self, counts: Mapping[str, int]) -> str:
        """Returns why the labels of data cannot be the names of its classes, or tags; empty if they can."""
        return ""

    @property
    def heads_key(self) -> str:
        """The key of the heads of its models: its form's, where that has its own."""
        form: Form | None = getattr(self, "form", None)
        return self.heads if form is None else form.heads.get(self.heads, self.heads)

    @property
    def asked_roles(self) -> tuple[tuple[str, ...], ...]:
        """The roles of the texts that its signature is asked about together, each time that it is asked."""
        return (self.roles,)

    @property
    def compared_features(self) -> tuple[str, ...]:
        """The features of its records that two sets of records can be compared by."""
        return (*(("label",) if self.label_recurs else ()), "source", *size_features(self.roles))

    @property
    def label_options(self) -> dict[str, Any]:
        """The options of its labels, as its `label_type` takes them: names of classes, if it has some."""
        names = getattr(self, "labels", ())
        return {"names": names} if names else {}

    @property
    def scored_by(self) -> str:
        """The served signature that its headline score is computed with: that of its answers."""
        return self.signature

    @property
    def written_by(self) -> str:
        """The served signature that writes the texts which are scored without right ones: of its answers."""
        return self.signature

    def in_order(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Returns the names of the classes that data have in the order of their numbers."""
        return tuple(sorted(labels))

    @property
    def score_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of its scores, the headline first."""
        return self.scores

    @property
    def headlines(self) -> tuple[str, ...]:
        """The scores that it is compared by: the first one, of several tasks the first of each."""
        return self.score_names[:1]

    @property
    def text_schema(self) -> str | Mapping[str, Any] | None:
        """The JSON Schema, or its file, that the texts which it writes are scored by; here none."""
        return None

    def targets_of(self, texts: Mapping[str, Any], label: Any) -> Sequence[str]:
        """Returns the texts that a model learns to write of a record: here none."""
        return ()

    def most_written(self, sequences: Sequences) -> tuple[int, str]:
        """Returns the most pieces of such a text, and the key that says it: here none."""
        return 0, ""

    def answer_places(self, sequences: Sequences) -> tuple[int, str]:
        """Returns the most tokens of a text that it writes, the end included, and the key that says it.

        Here none is written.
        """
        return 0, ""

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns the answers of models that read no record: the same answer for all, by its title.

        A model that is served has to be better than the best of them. Here there are none.
        """
        return {}

    @property
    def comparison_metrics(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the metrics that compare its headlines with the best constant answer."""
        return tuple(f"{name}{BEATS_CONSTANT}" for name in self.headlines)

    @property
    def constant_bounds(self) -> dict[str, tuple[float | None, float | None]]:  # type: ignore[override]
        """The bounds of these metrics for a model that is better."""
        return dict.fromkeys(self.comparison_metrics, (1.0, None))

    @property
    def texts(self) -> int:  # type: ignore[override]
        """The number of chunks that each document of a record is laid out as."""
        return len(self.roles)

    def documents(self, sequences: Sequences) -> int:
        """Returns the most documents of a row."""
        return self.documents_of_record * sequences.max_documents

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels."""
        return {RECORD_LABELS: Spec("int32", (sequences.max_documents,))}

    def row_specs(self, sequences: Sequences, max_characters: int = 0) -> dict[str, Spec]:
        """Returns the content of a row of records: the fields of any row, with a place for each text of each
        document, and the labels.
        """
        specs = super().row_specs(sequences, max_characters)
        chunks = (self.texts * self.documents(sequences),)
        specs |= {CHUNK_LENGTHS: Spec("int32", chunks), DOCUMENT_KEYS: Spec("int64", chunks)}
        return {**specs, **self.label_specs(sequences)}

    def place_in_row(self, chunks: tuple[int, ...], sequences: Sequences) -> int:
        """Returns the tokens of a row of `sequences.length` that a record takes."""
        return sum(chunks) + len(chunks) // self.texts * self.special_tokens

    def lengths_conflict(self, sequences: Sequences) -> str:
        """Returns the problem with the lengths of rows; empty for none."""
        if sequences.length <= self.documents_of_record * (self.special_tokens + 1):
            return f"sequences.length: {sequences.length} leaves no room for text"
        return ""

    @property
    def special_tokens(self) -> int:
        """Special tokens that are added to each document of a row."""
        form: Form = self.form
        return form.special_tokens(self.texts)

    @property
    def text_frame(self) -> TextFrame:
        """The special tokens around a text that is read alone."""
        return TextFrame(self.form.before, self.form.after, self.form.last_segment)


def most_frequent(answers: Sequence[Answer]) -> list[Answer]:
    """Returns the most frequent of some answers, the first of equally frequent ones; nothing of none.

    Example:

    >>> most_frequent(["b", "a", "a", "b"]), most_frequent([])
    (['b'], [])
    """
    return [answer for answer, _ in Counter(answers).most_common(1)]


def title_of(answer: object) -> str:
    """Returns an answer as it is named in a sentence: in quotes, in one line, cut after 40 characters.

    Example:

    >>> title_of("O"), title_of(2)
    ('"O"', '"2"')
    """
    text = " ".join(str(answer).split())
    return json.dumps(
        text if len(text) <= _LONGEST_TITLE else f"{text[:_LONGEST_TITLE]}...", ensure_ascii=False
    )
