"""The tasks that a recipe may name."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Union

import pydantic

from firth.features import TASK_IDS, Spec
from firth.recipes.base.errors import suggest
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WritingTask, WrittenNumber
from firth.recipes.tokenizers.tokenizer import Sequences

AnyTextTask = Annotated[Union[LabelWords, WrittenNumber, TextToText], pydantic.Field(discriminator="kind")]
# Keys that are stated once for all tasks.
_SHARED = ("form", "target_tokens", "decoder_length")


class TextTasks(WritingTask):
    """Several tasks that one model learns at once, each from text to text (Raffel et al. 2019, section 2.4).

    Each data set of a mixture has a task of its own: its prefix, the words of its labels, and its scores. A
    record becomes one text, with all prefixes of its texts, and the text to write. A class is then the one
    whose words were written, and any other text is not a class; a number is scored as it is written, rounded
    to its step (section 2.4, and the released code).

    Example:

    >>> cola = LabelWords(labels=("0", "1"), words=("unacceptable", "acceptable"), prefix="cola sentence: ")
    >>> task = TextTasks(tasks={"cola": cola, "news": TextToText(prefix="summarize: ", scores=("rouge_l",))})
    >>> task.as_learned("cola", {"text": "They sat."}, "1")
    ({'text': 'cola sentence: They sat.'}, 'acceptable')
    >>> task.score_names
    ('cola.accuracy', 'news.rouge_l')
    """

    label_type: ClassVar[str] = "text"
    label_recurs: ClassVar[bool] = False
    signature: ClassVar[str] = "generate"
    takes_published_scores: ClassVar[bool] = False

    kind: Literal["text_tasks"] = "text_tasks"
    tasks: Annotated[dict[str, AnyTextTask], pydantic.Field(min_length=1)]
    """The task of each data set, by the name of its source: of a published data set its format's."""
    pair: Literal[False] = False
    """False, since each of the `tasks` has its own."""
    prefix: Literal[""] = ""
    """Empty, since each of the `tasks` has its own."""
    pair_prefix: Literal[""] = ""
    """Empty, since each of the `tasks` has its own."""

    @pydantic.model_validator(mode="after")
    def _what_is_shared_is_said_once(self) -> "TextTasks":
        for source, task in self.tasks.items():
            for name in _SHARED:
                value, usual = getattr(task, name), type(task).model_fields[name].default
                if value not in (usual, getattr(self, name)):
                    raise ValueError(f"tasks.{source}.{name}: say it once, of all tasks: task.{name}")
        return self

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels: the number of the task of each record."""
        return {TASK_IDS: Spec("int32", (sequences.max_documents,))}

    def of_source(self, source: str) -> Task:
        """Returns the task of a data set."""
        return self.tasks[source]

    @property
    def tasks_by_source(self) -> Mapping[str, Task]:  # type: ignore[override]
        """The tasks of single data sets, by the names of their sources."""
        return self.tasks

    def with_tasks(self, tasks: Mapping[str, Task]) -> "TextTasks":
        """Returns it with other tasks of the same data sets."""
        return self.model_copy(update={"tasks": dict(tasks)})

    def sources_conflict(self, sources: Sequence[str], is_mixed: bool) -> str:  # noqa: D102
        if not is_mixed:
            return "data.kind: task.kind: text_tasks learns from a mixture; say data.kind: mixture"
        if unknown := [name for name in self.tasks if name not in sources]:
            return (
                f"task.tasks: no part of data has the source {unknown[0]!r}; {suggest(unknown[0], sources)}"
            )
        if missing := [name for name in sources if name not in self.tasks]:
            return f"task.tasks: no task for the source {missing[0]!r} of data.parts"
        return ""

    def as_learned(self, source: str, texts: Mapping[str, Any], label: Any) -> tuple[dict[str, Any], Any]:
        """Returns the text to read, in its role, and the text to write, of a record of a data set."""
        return {"text": self.prompt_of(source, texts)}, self.tasks[source].texts_of(label)

    def prompt_of(self, source: str, texts: Mapping[str, Any]) -> str:
        """Returns the text to read of a record of a data set: its texts, each after its prefix."""
        task = self.tasks[source]
        before = zip((task.prefix, task.pair_prefix), task.roles)
        return " ".join(f"{prefix}{texts[role]}" for prefix, role in before)

    def text_of(self, label: Any) -> str:
        """Returns the text to write for a label as it is learned."""
        return label if isinstance(label, str) else str(label[0])

    @property  # type: ignore[misc]
    def scores(self) -> tuple[str, ...]:
        """The scores of all tasks, each after the name of its source and a point: `cola.matthews`."""
        return tuple(f"{source}.{score}" for source, task in self.tasks.items() for score in task.score_names)

    @property
    def headlines(self) -> tuple[str, ...]:
        """The first score of each task, which each task's answers are compared by."""
        return tuple(f"{source}.{each}" for source, task in self.tasks.items() for each in task.headlines)

    def score_options(self, name: str) -> dict[str, Any]:
        """Returns the options of a score, which its task says."""
        source, _, score = name.rpartition(".")
        return self.tasks[source].score_options(score)


AnyTask = Annotated[
    Union[
        Classification,
        Regression,
        Tagging,
        SpanAnswering,
        SentenceEmbedding,
        MultipleChoice,
        TextToText,
        LabelWords,
        WrittenNumber,
        TextTasks,
        Dialogue,
    ],
    pydantic.Field(discriminator="kind"),
]
_ANY_TASK: pydantic.TypeAdapter[AnyTask] = pydantic.TypeAdapter(AnyTask)


def task_from_json(text: str) -> AnyTask:
    """Returns the part that `to_json` wrote, of whichever kind.

    Raises:
        pydantic.ValidationError: if the text does not describe a task.

    Example:

    >>> task_from_json(Classification(labels=("no", "yes")).to_json()).labels
    ('no', 'yes')
    """
    return _ANY_TASK.validate_json(text, strict=True)


def task_types() -> dict[str, Any]:
    """Returns the types of tasks by their kinds.

    Example:

    >>> task_types()["tagging"].__name__
    'Tagging'
    """
    types: list[Any] = configs_in(AnyTask)
    return {kind: each for each in types for kind in kinds_of(each)}
