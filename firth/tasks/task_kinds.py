"""The tasks, by their kind in a recipe; kinds of tasks and objectives differ."""

from typing import Any

from firth.tasks.choice import ChoiceTask
from firth.tasks.dialogue import DialogueTask
from firth.tasks.embedding import EmbeddingTask
from firth.tasks.span import SpanTask
from firth.tasks.tagging import TaggingTask
from firth.tasks.text_to_text import (
    LabelWordsTask,
    TextTasksTask,
    TextToTextTask,
    WrittenNumberTask,
)
from firth.tasks.texts import ClassificationTask, RegressionTask

TASKS: dict[str, Any] = {
    "classification": ClassificationTask,
    "regression": RegressionTask,
    "tagging": TaggingTask,
    "span": SpanTask,
    "embedding": EmbeddingTask,
    "choice": ChoiceTask,
    "text_to_text": TextToTextTask,
    "label_words": LabelWordsTask,
    "written_number": WrittenNumberTask,
    "text_tasks": TextTasksTask,
    "dialogue": DialogueTask,
}
"""Classes of the tasks, by `recipe.task.kind`.

A task is made from the recipe's, and has the functions from records to rows, and from rows to Features.
"""
