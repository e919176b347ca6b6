"""The tasks that a recipe may name."""

from typing import Annotated, Any, Union

import pydantic

from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.text_tasks import TextTasks
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber

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
